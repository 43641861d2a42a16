import { describe, expect, it } from "vitest";
import type { MemoryFiles } from "../../adapters/memory/index.js";
import type { WriteFileOptions } from "../../src/contract/operations.js";
import { bindTool } from "../../src/contract/tool.js";
import { writeTool } from "../../src/tools/write.js";
import { call, openMemory } from "./support.js";

async function write(path: string, content: string, files: MemoryFiles = {}) {
  const environment = await openMemory({ files });
  const called = await call(bindTool(writeTool, environment), { path, content });
  return { ...called, environment, verbs: environment.calls.map(({ verb }) => verb) };
}

describe("write", () => {
  it("says that it created, with the real byte count", async () => {
    const { text, details, isError, environment, verbs } = await write("src/new/a.txt", "é😀\n");
    expect(text).toBe("Created src/new/a.txt: 7 bytes.");
    expect(isError).toBe(false);
    expect(details).toEqual({ path: "src/new/a.txt", canonicalPath: "/workspace/src/new/a.txt", bytes: 7, created: true });
    expect(environment.snapshot()).toMatchObject({ "src/new/a.txt": "é😀\n" });
    expect(verbs).toEqual(["writeFile"]);
  });

  it("says that it replaced", async () => {
    const { text, details } = await write("a.txt", "x", { "a.txt": "old" });
    expect(text).toBe("Replaced a.txt: 1 byte.");
    expect(details).toMatchObject({ created: false });
  });

  it.each([0, 1, 4096, 65_535, 65_536, 65_537, 1024 * 1024])("C19 writes %d bytes exactly", async (size) => {
    const content = "\0é\r\n😀"
      .repeat(size)
      .slice(0, size)
      .replace(/[\ud800-\udbff]$/, "x");
    const { environment, details } = await write("f", content);
    const { data } = await environment.readFile("f");
    expect(Buffer.from(data).equals(Buffer.from(content))).toBe(true);
    expect(details).toMatchObject({ bytes: data.length });
  });

  it("refuses more than 64 MiB before anything is sent", async () => {
    const { text, details, verbs } = await write("big", "x".repeat(64 * 1024 * 1024 + 1));
    expect(text).toBe(
      "The content is 67,108,865 bytes, more than the 64 MiB that one call can write. Make the file with bash, or write it in parts.",
    );
    expect(details).toMatchObject({ error: { code: "too_large", retrySafe: true } });
    expect(verbs).toEqual([]);
  });

  it("C20 refuses content that is no string, by schema", async () => {
    const tool = bindTool(writeTool, await openMemory());
    for (const content of [1, null, ["a"], { type: "Buffer", data: [1] }, undefined, true]) {
      expect(tool.validate({ path: "a", content }).ok).toBe(false);
    }
  });

  it("P20 refuses half a character, which could not be written as it was sent", async () => {
    const tool = bindTool(writeTool, await openMemory());
    await expect(
      tool.execute({ path: "a", content: "ab\ud800" }, { id: "1", signal: new AbortController().signal, onUpdate() {} }),
    ).rejects.toThrow("content holds half of a surrogate pair at character 3, which is no text. Send whole characters.");
  });

  it.each([
    ["P01", ""],
    ["P05", "a\0b"],
  ])("%s %j is refused before anything is sent", async (_, path) => {
    const { details, verbs } = await write(path, "x");
    expect(details).toMatchObject({ error: { code: "invalid_argument" } });
    expect(verbs).toEqual([]);
  });

  it("P14 writes and finds a file under many directories", async () => {
    const path = `${"d/".repeat(500)}f`;
    expect((await write(path, "x")).details).toMatchObject({ created: true, bytes: 1 });
  });

  it.each([
    ["P02", ".", "is_directory"],
    ["P24", "fifo", "not_regular"],
    ["P25", "dir", "is_directory"],
    ["C21", "file/x", "not_directory"],
    ["C21", "dangling", "not_found"],
  ])("%s %j is the target's error, and nothing is changed", async (_, path, code) => {
    const files = { fifo: { special: "fifo" }, dir: { directory: true }, file: "x", dangling: { symlink: "nowhere" } } as const;
    const { details, environment } = await write(path, "new", files);
    expect(details).toMatchObject({ error: { code } });
    expect(environment.snapshot()).toMatchObject({ file: "x" });
  });
});

describe("write, whose name is it", () => {
  it.each(["@new.txt", "~x", "a\u00a0b", "@types/x", "-n", "$(id)", "a\nb"])("%j is literal when its directory is there", async (name) => {
    const { environment, details } = await write(name, "x", { "@types/other": "x", "new.txt": "keep", "types/x": "keep" });
    expect(details).toMatchObject({ path: name, created: true });
    expect(environment.snapshot()).toMatchObject({ [name]: "x", "new.txt": "keep" });
  });

  it("is repaired only when its directory is missing and the repaired one's is there", async () => {
    const { text, details, verbs } = await write("@src/a.ts", "x", { "src/b.ts": "x" });
    expect(text).toBe("Created src/a.ts: 1 byte.\n\n[@src/a.ts does not exist; src/a.ts was used.]");
    expect(details).toMatchObject({ path: "src/a.ts" });
    expect(verbs).toEqual(["stat", "stat", "stat", "writeFile"]);
    expect((await write("~/notes", "x")).details).toMatchObject({ path: "/home/user/notes" });
    expect((await write("file:///tmp/x", "x")).details).toMatchObject({ path: "/tmp/x" });
  });

  it("is literal when no directory is there at all", async () => {
    expect((await write("@no/such/a.ts", "x")).details).toMatchObject({ path: "@no/such/a.ts", created: true });
    expect((await write("@scope/pkg/a.ts", "x", { "@scope/pkg/b.ts": "x", "scope/pkg/b.ts": "x" })).details).toMatchObject({
      path: "@scope/pkg/a.ts",
    });
  });

  it("is literal when it exists, and when the operations cannot look", async () => {
    expect((await write("@a/f", "x", { "@a/f": "old", "a/f": "keep" })).details).toMatchObject({ path: "@a/f", created: false });
    const written: string[] = [];
    const writeFile = async (path: string) => {
      written.push(path);
      return { canonicalPath: `/${path}`, created: true };
    };
    await call(bindTool(writeTool, { writeFile }), { path: "@src/a", content: "x" });
    expect(written).toEqual(["@src/a"]);
  });
});

describe("write, bound to what was seen", () => {
  it("passes a hash that a caller or a hook sets, and its mismatch is final", async () => {
    const seen: (WriteFileOptions | undefined)[] = [];
    const writeFile = async (path: string, _: Uint8Array, options?: WriteFileOptions) => {
      seen.push(options);
      return { canonicalPath: `/${path}`, created: true };
    };
    await call(bindTool(writeTool, { writeFile }), { path: "a", content: "x" }, { ifMatch: null });
    await call(bindTool(writeTool, { writeFile }), { path: "a", content: "x" });
    expect(seen).toMatchObject([{ ifMatch: null }, {}]);
    expect(seen[1]).not.toHaveProperty("ifMatch");

    const environment = await openMemory({ files: { a: "old" } });
    const { details } = await call(bindTool(writeTool, environment), { path: "a", content: "x" }, { ifMatch: null });
    expect(details).toMatchObject({ error: { code: "conflict" } });
    expect(environment.snapshot()).toMatchObject({ a: "old" });
  });
});

describe("write, rendering", () => {
  it("says where and how much", async () => {
    expect(writeTool.renderCall?.({ path: "a\tb", content: "é" }, { ansi: false })).toBe("write a\\tb (2 bytes)");
    const { result } = await write("a", "x");
    expect(writeTool.renderResult?.(result, { ansi: true })).toBe("Created a: 1 byte.");
    expect(writeTool.renderResult?.((await write("", "x")).result, { ansi: true })).toBe(
      "\x1b[31mThe path is empty. Name a file or directory; the working directory is “.”.\x1b[39m",
    );
  });
});
