import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { type ContractContext, casesOf } from "../contract-case.js";
import { runCommand } from "../run-command.js";
import { eventually, PATIENCE_MS, within } from "../settle.js";
import { survivors, TAG } from "../survivors.js";

const IN_BACKGROUND: Readonly<Record<string, string>> = {
  "a plain job": "sleep 61 &",
  "a job of setsid": "setsid sleep 61 &",
  "a job of nohup": "if command -v nohup >/dev/null; then nohup sleep 61 2>&1 & else (trap '' HUP; exec sleep 61) & fi;",
  "a double fork": "( ( sleep 61 & ) & );",
  "a noisy job": "(while :; do echo noise; sleep 0.05; done) &",
};

export const backgroundCases = casesOf("background", [
  ...Object.entries(IN_BACKGROUND).map(([what, command]) => ({
    name: `${what} that holds the pipes does not hold the call, lives on and is named`,
    id: "R27",
    needs: ["processes"] as const,
    async run({ environment }: ContractContext) {
      const tag = randomUUID();
      try {
        const run = runCommand(environment, `${command} echo answered`, { env: { [TAG]: tag } });
        const { stdout, exitCode, background = [] } = await within(PATIENCE_MS, "A command with a job in the background", run);
        assert.ok(stdout.includes("answered\n"), stdout);
        assert.equal(exitCode, 0);
        const living = await survivors(environment, tag);
        assert.ok(living.length > 0, "the job lives on after a normal exit");
        assert.ok(
          background.some((pid) => living.includes(pid)),
          `the result names ${background.join(", ")}, and ${living.join(", ")} live`,
        );
      } finally {
        await environment.exec('for pid in $PIDS; do kill -9 "$pid"; done 2>/dev/null', {
          env: { PIDS: (await survivors(environment, tag)).join(" ") },
        });
      }
    },
  })),
  {
    name: "a command that leaves nothing behind names nothing",
    id: "R27",
    needs: ["processes"],
    async run({ environment }) {
      const { background } = await runCommand(environment, "sleep 0.05 & wait; (true &) ; sleep 0.1; echo done");
      assert.ok(background === undefined || background.length === 0, `names ${background?.join(", ")}`);
    },
  },
]);

export const closingCases = casesOf("closing", [
  {
    name: "closing the environment ends what its commands still run, also in the background",
    id: "P6",
    needs: ["processes"],
    async run({ environment, reopen }) {
      const tag = randomUUID();
      const other = await reopen();
      await other.exec("setsid sleep 61 & sleep 62 & echo started", { env: { [TAG]: tag } });
      const running = other.exec("sleep 63", { env: { [TAG]: tag } }).then(
        () => "resolved",
        (error: { readonly code?: string }) => error.code,
      );
      await eventually("the commands run", async () => (await survivors(environment, tag)).length >= 3);
      await other.close();
      await within(PATIENCE_MS, "The command of a closed environment", running);
      await eventually("nothing of it is left", async () => (await survivors(environment, tag)).length === 0, 10_000);
    },
  },
]);
