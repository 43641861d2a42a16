import { expect, it } from "vitest";
import { describeTarget, targetState } from "../../support/describe-target.js";
import { INSTALL_MS } from "../../support/on-demand.js";
import { hostPackages, runWorker } from "../hosts.js";
import { type Call, callsOn } from "./calls.js";
import { piEnvironment, scratchDirectory, targetUrl } from "./scene.js";

interface Answer {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly isError: boolean;
}

interface Ran {
  readonly answers: readonly Answer[];
  readonly files: Readonly<Record<string, string>>;
}

const NAMES = ["memory", "local", "docker", "ssh"] as const;

let ran: Promise<Readonly<Record<string, Ran>>> | undefined;
/** All targets in one process: loading Pi takes longer than the calls. */
async function runAll(packages: string): Promise<Readonly<Record<string, Ran>>> {
  ran ??= (async () => {
    const ready = NAMES.filter((name) => targetState(name).ready);
    const urls = Object.fromEntries(await Promise.all(ready.map(async (name) => [name, await targetUrl(name)])));
    const input = { packages, directory: await scratchDirectory(), urls };
    return (await runWorker(new URL("tools.worker.ts", import.meta.url), input, await piEnvironment())) as Record<string, Ran>;
  })();
  return await ran;
}

for (const name of NAMES) {
  describeTarget(name, `Pi's own tools over our operations (${name})`, () => {
    it("answer and leave every file as over Pi's own operations", { timeout: INSTALL_MS }, async ({ skip }) => {
      const { "": pi, [name]: ours } = await runAll(await hostPackages(skip));
      const calls = callsOn(`${name}:`);
      expect(ours?.answers.length).toBe(calls.length);
      for (const [index, call] of calls.entries()) {
        expect({ call, answer: comparable(call, ours?.answers[index]) }).toEqual({ call, answer: comparable(call, pi?.answers[index]) });
      }
      expect(ours?.files).toEqual(pi?.files);
      expect(Object.keys(pi?.files ?? {})).toContain("new/dir/file.txt");
    });
  });
}

function comparable(call: Call, answer: Answer | undefined): unknown {
  if (answer === undefined || call.ownWords) return { isError: answer?.isError };
  let text = answer.content.map((part) => part.text ?? JSON.stringify(part)).join("\n");
  if (call.namesTempFile) text = text.replace(/\/\S*pi-bash-\S+\.log/, "TEMPORARY");
  // fd and rg answer in no order; ours says in brackets what it did not look at.
  if (call.name === "find" || call.name === "grep")
    text = text
      .replace(/\n\n\[.*\]$/, "")
      .split("\n")
      .sort()
      .join("\n");
  return { text, isError: answer.isError };
}
