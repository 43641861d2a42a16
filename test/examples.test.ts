import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { builtFile } from "./integrations/built-package.js";
import { describeTarget } from "./support/describe-target.js";
import { startSshd } from "./support/sshd.js";
import type { TargetName } from "./support/targets.js";

/*
 * Each file in examples/ is run as a person would run it: by itself, against the package as it is built. It asserts what it
 * shows, so it ends with 0 or says what broke.
 */
const run = promisify(execFile);
const examples = fileURLToPath(new URL("../examples/", import.meta.url));

interface Example {
  readonly needs: TargetName;
  /** Part of what it prints. */
  readonly prints: string;
  args?(): Promise<readonly string[]>;
}

const EXAMPLES: Readonly<Record<string, Example>> = {
  "demo.ts": { needs: "local", prints: "both edits in it" },
  "platform.ts": { needs: "docker", prints: "bob: bob's secret" },
  "build-box.ts": { needs: "ssh", prints: "failed bash (build-1)", args: sshArguments },
  "memory.test-example.ts": { needs: "memory", prints: "a release whose tests fail puts the old version back" },
  "custom-tool.ts": { needs: "memory", prints: "... 51 lines" },
  // All themes run over the same lanes in test/contract/posix.test.ts.
  "custom-transport.ts": { needs: "local", prints: "promises kept", args: async () => ["write"] },
};

it("there is a test for every example", async () => {
  expect((await readdir(examples)).sort()).toEqual(Object.keys(EXAMPLES).sort());
});

for (const [name, { needs, prints, args }] of Object.entries(EXAMPLES)) {
  describeTarget(needs, `examples/${name}`, () => {
    it("runs against the built package", { timeout: 180_000 }, async () => {
      builtFile("index.js");
      const { stdout } = await run(process.execPath, ["--import", "tsx", `${examples}${name}`, ...((await args?.()) ?? [])]);
      expect(stdout).toContain(prints);
    });
  });
}

/** A build machine: the URL of an account on a private SSH server. */
async function sshArguments(): Promise<readonly string[]> {
  const server = await startSshd();
  onTestFinished(() => server.stop());
  const options = { identity: server.privateKeyPath, hostKey: server.hostKeyFingerprint, config: "none" };
  const query = Object.entries(options).map(([option, value]) => `${option}=${encodeURIComponent(value)}`);
  return [`${server.url}?${query.join("&")}`];
}
