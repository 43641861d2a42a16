import { describe, expect, it } from "vitest";
import type { MemoryFiles } from "../../adapters/memory/index.js";
import { GloveboxError } from "../../src/contract/errors.js";
import { bindTool } from "../../src/contract/tool.js";
import { readTool } from "../../src/tools/read.js";
import { call, openMemory } from "./support.js";

async function read(files: MemoryFiles, path: string, root?: string) {
  const environment = await openMemory({ files, root });
  const called = await call(bindTool(readTool, environment), { path });
  return { ...called, environment };
}

describe("paths, literal first", () => {
  it.each([
    "@types/x.d.ts",
    "~x",
    "~",
    "a\u00a0b",
    "file:x",
    "-n",
    "--help",
    "$(id)",
    "`id`",
    "$PATH",
    "!!",
    "it's",
    '"q"',
    "a\\b",
    "*",
    "[a]",
    "{a,b}",
    "__proto__",
    "constructor",
    "C:\\x",
    "a\nb",
    "f\n",
    "a\x1b[31mb",
    "e\u0301",
    "\u00e9",
  ])("P06 P07 P08 P09 P10 P11 P15 P18 P19 %j is a name like any other", async (name) => {
    const { text, details, environment } = await read({ [name]: "content\n", decoy: "x" }, name);
    expect(text).toBe("content");
    expect(details).toMatchObject({ path: name, canonicalPath: `/workspace/${name}` });
    expect(environment.calls).toHaveLength(1);
  });

  it("P15 keeps two Unicode forms of a name apart", async () => {
    const files = { "e\u0301": "decomposed", "\u00e9": "composed" };
    expect((await read(files, "e\u0301")).text).toBe("decomposed");
    expect((await read(files, "\u00e9")).text).toBe("composed");
  });
});

describe("paths, repaired only when the name does not exist", () => {
  it.each([
    ["@src/a.ts", "src/a.ts"],
    ["~/a.ts", "/home/user/a.ts"],
    ["@~/a.ts", "/home/user/a.ts"],
    ["file:///workspace/src/a.ts", "/workspace/src/a.ts"],
    ["src/with\u00a0space", "src/with space"],
    ["@src/with\u202fspace", "src/with space"],
  ])("%j is taken for %j, and the result says so", async (given, used) => {
    const files = { "src/a.ts": "content", "/home/user/a.ts": "content", "src/with space": "content" };
    const { text, details } = await read(files, given);
    expect(text).toBe(`content\n\n[${given} does not exist; ${used} was used.]`);
    expect(details).toMatchObject({ path: used });
  });

  it("tries them all at once, after the name itself", async () => {
    const { environment } = await read({ "src/a b": "content" }, "@src/a\u00a0b");
    const [first, ...others] = environment.calls;
    expect(first?.path).toBe("/workspace/@src/a\u00a0b");
    expect(others.map(({ path }) => path)).toEqual(["/workspace/src/a\u00a0b", "/workspace/@src/a b", "/workspace/src/a b"]);
  });

  it("gives the error of a repaired name that exists but cannot be read", async () => {
    const { details } = await read({ "src/a": { directory: true } }, "@src/a");
    expect(details).toMatchObject({ error: { code: "is_directory" } });
    expect((await read({ "/home/user/x": "secret" }, "~/x", "/workspace")).details).toMatchObject({ error: { code: "outside_root" } });
  });

  it("does nothing of it for an error that is not about a missing name", async () => {
    const { details, environment } = await read({ "@a": { directory: true }, a: "x" }, "@a");
    expect(details).toMatchObject({ error: { code: "is_directory" } });
    expect(environment.calls).toHaveLength(1);
  });
});

describe("paths, missing", () => {
  const files = { "src/config.json": "x", "src/index.ts": "x", "src/lib/a.ts": "x", "README.md": "x" };

  it("C18 names the nearest names beside it", async () => {
    expect((await read(files, "src/cofnig.json")).text).toMatchInlineSnapshot(
      `"src/cofnig.json does not exist. src has config.json. Use that if you meant it, or look with ls."`,
    );
    expect((await read(files, "readme.md")).text).toMatchInlineSnapshot(
      `"readme.md does not exist. The working directory has README.md. Use that if you meant it, or look with ls."`,
    );
  });

  it("names the first entries when nothing is near", async () => {
    expect((await read(files, "src/zzz")).text).toMatchInlineSnapshot(
      `"src/zzz does not exist. src has config.json, index.ts and lib/. Check the name, or look with ls."`,
    );
    const many = Object.fromEntries(Array.from({ length: 14 }, (_, index) => [`d/entry ${String.fromCharCode(97 + index)}`, "x"]));
    expect((await read(many, "d/zzz")).text).toMatchInlineSnapshot(
      `"d/zzz does not exist. d has entry a, entry b, entry c, entry d, entry e, entry f, entry g, entry h, entry i, entry j and 4 more. Check the name, or look with ls."`,
    );
    expect((await read({ d: { directory: true } }, "d/zzz")).text).toMatchInlineSnapshot(
      `"d/zzz does not exist. d is empty. Check the name, or make the file with write."`,
    );
  });

  it("names the nearest directory that exists", async () => {
    expect((await read(files, "src/lob/deep/er/a.ts")).text).toMatchInlineSnapshot(
      `"src/lob/deep/er/a.ts does not exist. There is no directory src/lob/deep/er either. src has lib. Use that if you meant it, or look with ls."`,
    );
    expect((await read(files, "/nowhere/at/all")).text).toMatchInlineSnapshot(
      `"/nowhere/at/all does not exist. There is no directory /nowhere/at either. / has home/, tmp/ and workspace/. Check the name, or look with ls."`,
    );
    expect((await read(files, "nothing/like/it")).text).toMatchInlineSnapshot(
      `"nothing/like/it does not exist. There is no directory nothing/like either. The working directory has README.md and src/. Check the name, or look with ls."`,
    );
  });

  it("P25 says when part of the path is a file", async () => {
    const { text, details } = await read(files, "README.md/x/y");
    expect(text).toMatchInlineSnapshot(
      `"README.md/x/y does not exist. README.md is not a directory, so nothing can be in it. Check the name with ls."`,
    );
    expect(details).toMatchObject({ error: { code: "not_directory" } });
  });

  it("P14 copes with a missing path of many directories", async () => {
    const { text } = await read(files, `${"d/".repeat(2000)}f`);
    expect(text).toMatch(/^(d\/){2000}f does not exist\. Check the name, or look for it with ls or find\.$/);
  });

  it("C21 says where a broken link leads", async () => {
    expect((await read({ link: { symlink: "gone/away" } }, "link")).text).toBe(
      "link does not exist. It is a symbolic link to gone/away, and nothing is there. Make that, or replace the link with bash.",
    );
  });

  it("P21 names what else was tried", async () => {
    expect((await read(files, "file:///etc/passwd")).text).toMatchInlineSnapshot(
      `"file:///etc/passwd does not exist (nor does /etc/passwd). There is no directory file:///etc either. The working directory has README.md and src/. Check the name, or look with ls."`,
    );
    expect((await read(files, "http://x")).text).toMatchInlineSnapshot(
      `"http://x does not exist. There is no directory http:/ either. The working directory has README.md and src/. Check the name, or look with ls."`,
    );
    expect((await read({ "a\nbc": "x" }, "@a\nbd")).text).toMatchInlineSnapshot(
      `""@a\\nbd" does not exist (nor does "a\\nbd"). The working directory has "a\\nbc". Use that if you meant it, or look with ls."`,
    );
    expect((await read(files, "@src/cofnig.json")).text).toMatchInlineSnapshot(
      `"@src/cofnig.json does not exist (nor does src/cofnig.json). src has config.json. Use that if you meant it, or look with ls."`,
    );
  });

  it("keeps code and facts of the error, and names the path as it was given", async () => {
    const { details, isError } = await read(files, "nope");
    expect(isError).toBe(true);
    expect(details).toMatchObject({ error: { code: "not_found", path: "nope", retrySafe: true, verb: "readFile", target: "memory:" } });
  });

  it("says what it can when the operations cannot list", async () => {
    const readFile = async (): Promise<never> => {
      throw new GloveboxError("not_found", "nothing there");
    };
    expect((await call(bindTool(readTool, { readFile }), { path: "a" })).text).toMatchInlineSnapshot(
      `"a does not exist. Check the name, or look for it with ls or find."`,
    );
  });
});

describe("paths, refused", () => {
  it.each([
    ["P01", "", "The path is empty. Name a file or directory; the working directory is “.”."],
    ["P05", "a\0b", "The path holds a NUL character, which no path can. Send it without."],
  ])("%s %j never reaches the target", async (_, path, message) => {
    const { details, text, environment } = await read({ a: "x" }, path);
    expect(details).toMatchObject({ error: { code: "invalid_argument", retrySafe: true } });
    expect(environment.calls).toEqual([]);
    expect(text).toBe(message);
  });

  it("P20 half a character is refused by schema, and by the tool itself", async () => {
    const environment = await openMemory({ files: { a: "x" } });
    const tool = bindTool(readTool, environment);
    expect(tool.validate({ path: "a\ud800" }).ok).toBe(false);
    await expect(tool.execute({ path: "a\ud800" }, { id: "1", signal: new AbortController().signal, onUpdate() {} })).rejects.toThrow(
      "path holds half of a surrogate pair at character 2, which is no text. Send whole characters.",
    );
    expect(environment.calls).toEqual([]);
  });

  it.each([
    ["P02", ".", "is_directory"],
    ["P24", "fifo", "not_regular"],
    ["P25", "dir", "is_directory"],
    ["P26", "loop", "loop"],
  ])("%s %j is the target's error", async (_, path, code) => {
    const files = { fifo: { special: "fifo" }, dir: { directory: true }, loop: { symlink: "loop" } } as const;
    expect((await read(files, path)).details).toMatchObject({ error: { code } });
  });
});
