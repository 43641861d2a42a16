/*
 * A new kind of target in under thirty lines. What an adapter for a POSIX machine has to write is a transport: start this
 * argv over there and hand over its pipes and its end. Here "over there" is behind `nice`; it could be a jail, a serial line
 * or a cluster's exec call. The contract, which is published as data, then says whether every promise holds.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEnvironment, type Target } from "glovebox";
import { connectPosix, type ProcessOutcome, type Transport } from "glovebox/posix";
import { contractCases, runContract } from "glovebox/testing";

const transport: Transport = {
  id: "nice:this-machine",
  label: "nice:",
  async start(argv) {
    const child = spawn("nice", ["-n", "5", ...argv], { detached: true });
    const { stdin, stdout, stderr } = child;
    for (const stream of [stdin, stdout, stderr]) stream.on("error", () => undefined);
    const outcome = new Promise<ProcessOutcome>((resolve) => {
      child.on("error", () => resolve({ kind: "exited", exitCode: 127 }));
      child.on("exit", (code, signal) =>
        resolve(signal === null ? { kind: "exited", exitCode: code ?? 0 } : { kind: "signalled", signal }),
      );
    });
    return { stdin, stdout, stderr, outcome, destroy: () => [stdin, stdout, stderr].forEach((stream) => void stream.destroy()) };
  },
  async close() {},
};

function nice(cwd: string): Target {
  return {
    kind: "nice",
    label: transport.label,
    async connect(options) {
      const connection = await connectPosix(transport, { cwd, ...options });
      return { ...connection, describe: async () => ({ ...(await connection.describe()), kind: "nice", label: transport.label }) };
    },
  };
}

const directory = await realpath(await mkdtemp(join(tmpdir(), "glovebox-example-")));
try {
  await using environment = await openEnvironment(nice(directory));
  await environment.writeFile("hello.txt", Buffer.from("over there\n"));
  await environment.exec("nice; cat hello.txt", { onOutput: (chunk) => void process.stdout.write(chunk) });

  // Themes as arguments pick some of the cases: "write", "kill". All of them take minutes.
  const themes = process.argv.slice(2);
  const cases = contractCases.filter(({ theme }) => themes.length === 0 || themes.includes(theme));
  const results = await runContract({ open: () => openEnvironment(nice(directory)), cases });
  for (const { outcome, theme, name, reason } of results) if (outcome !== "passed") console.log(`${outcome} ${theme}: ${name} (${reason})`);
  console.log(`${results.filter(({ outcome }) => outcome === "passed").length} of ${results.length} promises kept`);
  assert.ok(results.some(({ outcome }) => outcome === "passed"));
  assert.deepEqual(
    results.filter(({ outcome }) => outcome === "failed"),
    [],
  );
} finally {
  await rm(directory, { recursive: true, force: true });
}
