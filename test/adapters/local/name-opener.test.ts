import { closeSync, mkdirSync, openSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createAttributeCopier } from "../../../adapters/local/attributes.js";
import { nameOpener } from "../../../adapters/local/opener.js";
import { createPlainFiles } from "../../../adapters/local/plain-files.js";
import { readLocated } from "../../../adapters/local/read.js";
import { openWalker } from "../../../adapters/local/walk.js";
import { writeLocked } from "../../../adapters/local/write.js";
import { describeTarget } from "../../support/describe-target.js";
import { bytes, codeOf, makeScene, text } from "./scene.js";

describeTarget("local", "open, then verify: where descriptors cannot be walked", () => {
  it("finds, reads and writes inside, and refuses what leads out", async () => {
    const { outside, root } = makeScene();
    mkdirSync(join(root, "a/b"), { recursive: true });
    writeFileSync(join(root, "a/f"), "inside");
    writeFileSync(join(outside, "secret"), "s");
    symlinkSync("../../a/f", join(root, "a/b/link"));
    symlinkSync("../secret", join(root, "out"));
    symlinkSync("loop", join(root, "loop"));
    const walker = openWalker(root, root, nameOpener(root));
    const read = async (path: string) => text((await readLocated(walker.locate(`${root}/${path}`), path, {}, { maxReadBytes: 100 })).data);
    const attributes = createAttributeCopier(root);
    const policy = { durable: true, hardLinks: "refuse", allowProtected: false } as const;
    const write = async (path: string) =>
      await writeLocked({
        walker,
        path: `${root}/${path}`,
        data: bytes("new"),
        options: {},
        policy,
        attributes,
        plainFiles: createPlainFiles(),
        onAttributesLost() {},
      });

    expect(await read("a/b/link")).toBe("inside");
    expect(await write("a/b/link")).toEqual({ canonicalPath: join(root, "a/f"), created: false });
    expect(await write("x/y/z")).toEqual({ canonicalPath: join(root, "x/y/z"), created: true });
    expect([await read("a/f"), await read("x/../a/b/../f")]).toEqual(["new", "new"]);
    for (const [path, code] of [
      ["out", "outside_root"],
      ["../secret", "outside_root"],
      ["loop", "loop"],
      ["a/f/x", "ENOTDIR"],
    ] as const) {
      expect(await codeOf(read(path)), path).toBe(code);
      expect(await codeOf(write(path)), path).toBe(code);
    }
    attributes.close();
  });

  it("notices that what it opened is not what it looked at", () => {
    const { outside, root } = makeScene();
    mkdirSync(join(root, "d"));
    mkdirSync(join(outside, "d"));
    writeFileSync(join(root, "d/f"), "inside");
    writeFileSync(join(outside, "d/f"), "secret");
    const walker = openWalker(root, root, nameOpener(root));
    const located = walker.locate(join(root, "d/f"));
    renameSync(join(root, "d"), join(root, "was d"));
    symlinkSync("../d", join(root, "d"));
    const fd = openSync(join(root, "d/f"), "r");
    expect(() => located.object?.verify(fd)).toThrow(/exchanged/);
    closeSync(fd);
  });
});
