import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/memory/index.js";
import type { Environment } from "../../src/contract/target.js";
import { openEnvironment } from "../../src/environment.js";
import { changed } from "./scripted.js";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const open = () =>
  openEnvironment(
    memory({
      exec: () => ({ exitCode: 0 }),
      files: { "/workspace/real/a.txt": "a", "/workspace/alias": { symlink: "real" }, "/srv/shared/b.txt": "b" },
    }),
  );

describe("paths", () => {
  it("are joined to the working directory, `..` and all", async () => {
    const environment = await open();
    await environment.realpath("alias/../x").catch(() => undefined);
    await environment.realpath("/srv//shared").catch(() => undefined);
    await environment.exec("true", { cwd: "real" });
    expect(environment.calls.map(({ path }) => path)).toEqual(["/workspace/alias/../x", "/srv//shared", "/workspace/real"]);
  });

  it("start at the root without a double slash", async () => {
    const environment = await openEnvironment(memory({ cwd: "/", files: { "/a": "a" } }));
    await environment.stat("a");
    expect(environment.calls.map(({ path }) => path)).toEqual(["/a"]);
  });

  const refused: readonly (readonly [string, unknown, string])[] = [
    ["P01 empty", "", 'An empty path names nothing. Say "." for the working directory.'],
    ["P05 with NUL", "a\0b", "The path holds a NUL character, which no target accepts. Leave it out."],
    ["P20 half a surrogate pair", "a\ud800", "The path holds half of a surrogate pair, which is not a character. Leave it out."],
    ["not a string", undefined, "The path must be a string, not undefined."],
    ["null", null, "The path must be a string, not null."],
  ];
  it.each(refused)("%s is refused by every verb before anything travels", async (_name, path, message) => {
    const environment = await open();
    const verbs: readonly ((path: string) => Promise<unknown>)[] = [
      (given) => environment.readFile(given),
      (given) => environment.writeFile(given, bytes("")),
      (given) => environment.stat(given),
      (given) => environment.readdir(given),
      (given) => environment.realpath(given),
      (given) => environment.grep(given, { pattern: "a", limit: 1 }),
      (given) => environment.find(given, { pattern: "a", limit: 1 }),
    ];
    for (const verb of verbs) {
      await expect(verb(path as string)).rejects.toMatchObject({ code: "invalid_argument", message, retrySafe: true, target: "memory:" });
    }
    expect(environment.calls).toEqual([]);
  });

  it("P06 P15 keep every other character: line feeds, either form of é, whole pairs", async () => {
    const environment = await open();
    for (const path of ["a\nb", "\n", "e\u0301", "\u00e9", "😀", "-n", "$(id)", "~"]) {
      await environment.writeFile(path, bytes(path));
      expect(new TextDecoder().decode((await environment.readFile(path)).data)).toBe(path);
    }
  });
});

describe("arguments", () => {
  const refused: readonly (readonly [string, (environment: Environment) => Promise<unknown>, string])[] = [
    [
      "bytes and lines",
      (e) => e.readFile("a", { bytes: { offset: 0, length: 1 }, lines: { start: 1, count: 1 } }),
      "Ask for `bytes` or for `lines`, not for both.",
    ],
    [
      "C01 offset -1",
      (e) => e.readFile("a", { bytes: { offset: -1, length: 1 } }),
      "bytes.offset must be a whole number, 0 or more; it is -1.",
    ],
    ["C01 line 0", (e) => e.readFile("a", { lines: { start: 0, count: 1 } }), "lines.start must be a whole number, 1 or more; it is 0."],
    [
      "C01 NaN lines",
      (e) => e.readFile("a", { lines: { start: 1, count: Number.NaN } }),
      "lines.count must be a whole number, 1 or more; it is NaN.",
    ],
    [
      "C01 1.5 bytes",
      (e) => e.readFile("a", { bytes: { offset: 0, length: 1.5 } }),
      "bytes.length must be a whole number, 0 or more; it is 1.5.",
    ],
    [
      "C20 text as data",
      (e) => e.writeFile("a", "text" as never),
      "The data of a write must be a Uint8Array; encode text with TextEncoder first.",
    ],
    [
      "a short hash",
      (e) => e.writeFile("a", bytes(""), { ifMatch: "abc" }),
      "`ifMatch` must be a SHA-256 in 64 lower-case hexadecimal digits, or null for a file that must not exist.",
    ],
    ["B02 NUL in a command", (e) => e.exec("a\0b"), "The command holds a NUL character, which no target accepts. Leave it out."],
    ["an empty cwd", (e) => e.exec("true", { cwd: "" }), 'An empty cwd names nothing. Say "." for the working directory.'],
    [
      "a variable's name",
      (e) => e.exec("true", { env: { "A=B": "" } }),
      '"A=B" cannot be the name of an environment variable: use letters, digits and "_".',
    ],
    [
      "a variable's value",
      (e) => e.exec("true", { env: { A: "\0" } }),
      "The value of A holds a NUL character, which no target accepts. Leave it out.",
    ],
    ["limit 0", (e) => e.find(".", { pattern: "*", limit: 0 }), "limit must be a whole number, 1 or more; it is 0."],
    ["context -1", (e) => e.grep(".", { pattern: "a", limit: 1, context: -1 }), "context must be a whole number, 0 or more; it is -1."],
    [
      "maxLineLength 0",
      (e) => e.grep(".", { pattern: "a", limit: 1, maxLineLength: 0 }),
      "maxLineLength must be a whole number, 1 or more; it is 0.",
    ],
    [
      "NUL in a pattern",
      (e) => e.grep(".", { pattern: "\0", limit: 1 }),
      "The pattern holds a NUL character, which no target accepts. Leave it out.",
    ],
    [
      "NUL in a glob",
      (e) => e.grep(".", { pattern: "a", limit: 1, glob: "\0" }),
      "The glob holds a NUL character, which no target accepts. Leave it out.",
    ],
  ];
  it.each(refused)("%s: refused before anything travels", async (_name, call, message) => {
    const environment = await open();
    await expect(call(environment)).rejects.toMatchObject({ code: "invalid_argument", message, retrySafe: true });
    expect(environment.calls).toEqual([]);
  });
});

describe("errors", () => {
  it("say target, verb and path where the adapter did not", async () => {
    const environment = await open();
    environment.failNext("stat", "not_found");
    await expect(environment.stat("nope")).rejects.toMatchObject({
      code: "not_found",
      target: "memory:",
      verb: "stat",
      path: "/workspace/nope",
    });
  });

  it("of a foreign kind become `unexpected`, with their cause", async () => {
    const cause = new RangeError("offset is out of bounds");
    const target = changed(memory(), () => ({
      stat: () => Promise.reject(cause),
      readdir: () => Promise.reject("EIO"),
      realpath: () => {
        throw cause;
      },
    }));
    const environment = await openEnvironment(target);
    await expect(environment.stat("a")).rejects.toMatchObject({
      code: "unexpected",
      message:
        'stat on "/workspace/a" failed in a way that nobody foresaw: offset is out of bounds. Check the state of the target before you try it once more; if it happens again, it is a defect to report.',
      retrySafe: false,
      cause,
    });
    await expect(environment.readdir("a")).rejects.toMatchObject({ code: "unexpected", cause: "EIO" });
    await expect(environment.realpath("a")).rejects.toMatchObject({ code: "unexpected", cause });
  });

  it("that echo the signal are what the signal stands for", async () => {
    const target = changed(memory(), () => ({
      stat: (_path, options) =>
        new Promise((_resolve, reject) => options?.signal?.addEventListener("abort", () => reject(options.signal?.reason))),
    }));
    const environment = await openEnvironment(target);
    const [abort, late] = [new AbortController(), new AbortController()];
    const aborted = environment.stat("a", { signal: abort.signal });
    abort.abort();
    await expect(aborted).rejects.toMatchObject({ code: "aborted", verb: "stat" });
    const expired = environment.stat("a", { signal: late.signal });
    late.abort(new DOMException("too slow", "TimeoutError"));
    await expect(expired).rejects.toMatchObject({ code: "timeout", verb: "stat" });
  });

  it("an aborted signal rejects before anything travels", async () => {
    const environment = await open();
    const signal = AbortSignal.abort();
    await expect(environment.writeFile("a", bytes(""), { signal })).rejects.toMatchObject({ code: "aborted", retrySafe: true });
    await expect(environment.exec("true", { signal })).rejects.toMatchObject({ code: "aborted", retrySafe: true });
    expect(environment.calls).toEqual([]);
  });
});

describe("mutationKey", () => {
  const key = (environment: Environment, path: string): string => environment.mutationKey(path).slice(environment.id.length + 1);

  it("is lexical until a reply teaches better", async () => {
    const environment = await open();
    expect(key(environment, "./real//a.txt")).toBe("/workspace/real/a.txt");
    expect(key(environment, "alias/a.txt")).toBe("/workspace/alias/a.txt");
    await environment.readFile("alias/a.txt");
    expect(key(environment, "alias/a.txt")).toBe("/workspace/real/a.txt");
    expect(key(environment, "x/../alias/./a.txt")).toBe("/workspace/real/a.txt");
    expect(environment.mutationKey("a")).toBe(`${environment.id}:/workspace/a`);
  });

  it("Q01 follows a directory that was learned to files that are not there yet", async () => {
    const environment = await open();
    await environment.stat("alias");
    expect(key(environment, "alias/new.txt")).toBe("/workspace/real/new.txt");
    expect(key(environment, "aliased/new.txt")).toBe("/workspace/aliased/new.txt");
  });

  it("does not take `link/..` for the directory of the link", async () => {
    const environment = await open();
    await environment.realpath("alias/../real/a.txt");
    await environment.realpath("/workspace/alias/..");
    expect(key(environment, "/workspace/b")).toBe("/workspace/b");
  });

  it("forgets when a command runs, since it may have moved everything", async () => {
    const environment = await open();
    await environment.stat("alias");
    await environment.exec("true");
    expect(key(environment, "alias/new.txt")).toBe("/workspace/alias/new.txt");
  });

  it("costs no call, and remembers a bounded number of paths", async () => {
    const target = changed(memory(), () => ({ realpath: async (path: string) => path.replace("alias", "real") }));
    const environment = await openEnvironment(target);
    for (let index = 0; index <= 10_000; index += 1) await environment.realpath(`/alias/${index}`);
    expect(key(environment, "/alias/0")).toBe("/alias/0");
    expect(key(environment, "/alias/1")).toBe("/real/1");
    expect(environment.calls).toEqual([]);
  });
});
