import { expect, it } from "vitest";
import { memory } from "../../adapters/memory/index.js";
import { openEnvironment } from "../../src/environment.js";
import { readOnly } from "../../src/layers/read-only.js";

it("readOnly reads and searches, and refuses the rest with its reason", async () => {
  const environment = await openEnvironment(memory({ files: { a: "x" }, exec: () => ({}) }), { layers: [readOnly()] });
  expect((await environment.readFile("a")).size).toBe(1);
  expect((await environment.grep(".", { pattern: "x", limit: 1 })).matches).toBe(1);
  expect(environment.capabilities.exec).toBe(false);
  await expect(environment.writeFile("a", new Uint8Array())).rejects.toMatchObject({
    code: "permission_denied",
    message: "Nothing is written: this environment was opened read-only. Say what you would change instead.",
    path: "a",
  });
  await expect(environment.exec("rm a")).rejects.toMatchObject({
    code: "permission_denied",
    message: "A command could change files, so none is run: this environment was opened read-only. Say what you would change instead.",
  });
  expect(environment.disk.snapshot()).toEqual({ a: "x" });
});
