/*
 * A test of code that uses an environment: memory stands in for the target, runs scripted commands, fails on cue and says
 * what was asked of it. Run it with `node --import tsx --test examples/memory.test-example.ts`.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Environment, openEnvironment } from "glovebox";
import { memory } from "glovebox/memory";

/** The code under test: sets the version, runs the tests, and puts the old one back when they fail. */
async function release(environment: Pick<Environment, "readFile" | "writeFile" | "exec">, version: string): Promise<boolean> {
  const before = (await environment.readFile("package.json")).data;
  const manifest = JSON.parse(Buffer.from(before).toString()) as object;
  await environment.writeFile("package.json", Buffer.from(`${JSON.stringify({ ...manifest, version })}\n`));
  const { exitCode } = await environment.exec("npm test");
  if (exitCode !== 0) await environment.writeFile("package.json", before);
  return exitCode === 0;
}

const files = { "package.json": '{"name":"orders","version":"1.0.0"}\n' };
const verbs = ({ calls }: { readonly calls: readonly { readonly verb: string }[] }) => calls.map(({ verb }) => verb);

test("a release whose tests pass", async () => {
  await using environment = await openEnvironment(memory({ files, exec: { "npm test": { stdout: "ok\n" } } }));
  assert.equal(await release(environment, "1.1.0"), true);
  assert.deepEqual(environment.snapshot(), { "package.json": '{"name":"orders","version":"1.1.0"}\n' });
  assert.deepEqual(verbs(environment), ["readFile", "writeFile", "exec"]);
});

test("a release whose tests fail puts the old version back", async () => {
  await using environment = await openEnvironment(memory({ files, exec: { "npm test": { exitCode: 1 } } }));
  assert.equal(await release(environment, "1.1.0"), false);
  assert.deepEqual(environment.snapshot(), files);
  assert.deepEqual(verbs(environment), ["readFile", "writeFile", "exec", "writeFile"]);
});

test("a full disk leaves everything as it was, and no command runs", async () => {
  await using environment = await openEnvironment(memory({ files, exec: {} }));
  environment.failNext("writeFile", "no_space");
  await assert.rejects(release(environment, "1.1.0"), { code: "no_space" });
  assert.deepEqual(environment.snapshot(), files);
  assert.deepEqual(verbs(environment), ["readFile", "writeFile"]);
});
