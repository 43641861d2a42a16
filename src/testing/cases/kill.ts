import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { ErrorCode } from "../../contract/errors.js";
import { type ContractContext, casesOf } from "../contract-case.js";
import { eventually, PATIENCE_MS, rejection, within } from "../settle.js";
import { survivors, TAG } from "../survivors.js";

/** Starts a command, aborts it when it says `ready`, and checks that nothing of it is left when the call has settled. */
async function abortedMeansGone(
  { environment }: ContractContext,
  command: string,
  reason?: unknown,
  code: ErrorCode = "aborted",
): Promise<void> {
  const tag = randomUUID();
  const controller = new AbortController();
  let living: readonly number[] = [];
  const run = environment.exec(command, {
    env: { [TAG]: tag },
    signal: controller.signal,
    async onOutput(chunk) {
      if (!Buffer.from(chunk).toString().includes("ready")) return;
      living = await survivors(environment, tag);
      controller.abort(reason);
    },
  });
  await rejection(run, [code]);
  assert.notEqual(living.length, 0, "it ran, and bore the tag");
  assert.deepEqual(await survivors(environment, tag), [], "no process is left when an aborted call has settled");
}

const STUBBORN: Readonly<Record<string, string>> = {
  "a sleeping command": "echo ready; sleep 300",
  "a busy command": "echo ready; while :; do :; done",
  "a pipeline": "(echo ready; sleep 300) | cat",
  "children in the background": "sleep 300 & sleep 301 & echo ready; wait",
  "a child in a session of its own": "setsid sleep 300 & sleep 0.2; echo ready; wait",
  "a nohup child":
    "if command -v nohup >/dev/null; then nohup sleep 300 >/dev/null 2>&1 & else (trap '' HUP; exec sleep 300 >/dev/null 2>&1) & fi; sleep 0.2; echo ready; wait",
  "a double fork": "( ( setsid sleep 300 & ) & ); sleep 0.2; echo ready; sleep 300",
  "a command that ignores TERM": "trap '' TERM HUP INT; echo ready; while :; do sleep 1; done",
  "a stopped child": "sleep 300 & kill -STOP $!; echo ready; wait",
  "a child whose parent is gone": "sh -c 'sleep 300 & sleep 301 &' ; echo ready; sleep 302",
};

export const killCases = casesOf("kill", [
  ...Object.entries(STUBBORN).map(([what, command]) => ({
    name: `aborted means gone: ${what}`,
    id: "P6",
    needs: ["processes"] as const,
    run: (context: ContractContext) => abortedMeansGone(context, command),
  })),
  {
    name: "a signal whose reason is a timeout rejects timeout",
    needs: ["processes"],
    run: (context) => abortedMeansGone(context, "echo ready; sleep 300", new DOMException("too late", "TimeoutError"), "timeout"),
  },
  {
    name: "a signal that has fired already rejects aborted, and nothing runs",
    needs: ["processes"],
    async run({ environment, directory, names, rejects }) {
      await rejects(environment.exec("touch ran", { cwd: directory, signal: AbortSignal.abort() }), "aborted");
      assert.deepEqual(await names("."), []);
    },
  },
  {
    name: "an abort at any moment settles the call and leaves nothing running",
    id: "R32",
    needs: ["processes"],
    async run({ environment }) {
      const tag = randomUUID();
      const runs = Array.from({ length: 12 }, async (_, turn) => {
        const controller = new AbortController();
        const timer = setTimeout(() => controller.abort(), turn * 4);
        const run = environment.exec("sleep 300", { env: { [TAG]: tag }, signal: controller.signal });
        await rejection(run, ["aborted"]);
        clearTimeout(timer);
      });
      await Promise.all(runs);
      assert.deepEqual(await survivors(environment, tag), []);
    },
  },
  {
    name: "an abort after the end changes nothing",
    needs: ["processes"],
    async run({ environment }) {
      const controller = new AbortController();
      const result = await environment.exec("exit 3", { signal: controller.signal });
      controller.abort();
      assert.equal(result.exitCode, 3);
      assert.equal((await environment.exec("exit 4")).exitCode, 4);
    },
  },
  {
    name: "output that came before an abort was delivered",
    id: "P10",
    needs: ["processes"],
    async run({ environment, rejects }) {
      const controller = new AbortController();
      let seen = "";
      const run = environment.exec("echo one; echo two; sleep 300", {
        signal: controller.signal,
        onOutput(chunk) {
          seen += Buffer.from(chunk).toString();
          if (seen.includes("two")) controller.abort();
        },
      });
      await rejects(run, "aborted");
      assert.equal(seen, "one\ntwo\n");
    },
  },
  {
    name: "an onOutput that throws kills the command and rejects the call",
    needs: ["processes"],
    async run({ environment }) {
      for (const onOutput of [
        () => {
          throw new Error("no more");
        },
        () => Promise.reject(new Error("no more")),
      ]) {
        const tag = randomUUID();
        const run = environment.exec("echo ready; setsid sleep 300 & sleep 300", { env: { [TAG]: tag }, onOutput });
        await rejection(run, ["unexpected", "aborted"]);
        assert.deepEqual(await survivors(environment, tag), []);
      }
    },
  },
  {
    name: "an aborted command does no harm to another",
    id: "P8",
    needs: ["processes"],
    async run({ environment, rejects }) {
      const controller = new AbortController();
      const bystander = environment.exec("sleep 1.5; exit 7");
      const run = environment.exec("sleep 300", { signal: controller.signal });
      setTimeout(() => controller.abort(), 200);
      await rejects(run, "aborted");
      assert.equal((await within(PATIENCE_MS, "The other command", bystander)).exitCode, 7);
    },
  },
  {
    name: "a command killed from outside is a signal",
    id: "R04",
    needs: ["processes"],
    async run({ environment }) {
      const tag = randomUUID();
      const run = environment.exec("exec sleep 300", { env: { [TAG]: tag } });
      await eventually("it runs", async () => (await survivors(environment, tag)).length > 0);
      await environment.exec('for pid in $PIDS; do kill -9 "$pid"; done', { env: { PIDS: (await survivors(environment, tag)).join(" ") } });
      const result = await within(PATIENCE_MS, "The killed command", run);
      assert.deepEqual([result.signal, result.exitCode], ["SIGKILL", undefined]);
    },
  },
]);
