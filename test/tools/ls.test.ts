import { describe, expect, it } from "vitest";
import type { MemoryFiles } from "../../adapters/memory/index.js";
import { bindTool } from "../../src/contract/tool.js";
import { lsTool } from "../../src/tools/ls.js";
import { call, openMemory } from "./support.js";

async function ls(files: MemoryFiles, parameters: object = {}, root?: string) {
  const environment = await openMemory({ files, root });
  const called = await call(bindTool(lsTool, environment), parameters);
  return { ...called, verbs: environment.calls.map(({ verb }) => verb) };
}

describe("ls", () => {
  it("sorts case-folded by code point; marks directories and links; shows hidden files; takes one trip", async () => {
    const { text, details, verbs, isError } = await ls({
      "b.txt": "x",
      "A.txt": "x",
      ".hidden": "x",
      "src/x": "x",
      "Docs/x": "x",
      link: { symlink: "src" },
      "to file": { symlink: "b.txt" },
      broken: { symlink: "nowhere" },
    });
    expect(text).toBe(
      [".hidden", "A.txt", "b.txt", "broken -> nowhere (broken)", "Docs/", "link -> src", "src/", "to file -> b.txt"].join("\n"),
    );
    expect(isError).toBe(false);
    expect(verbs).toEqual(["readdir"]);
    expect(details).toMatchObject({ path: ".", total: 8 });
    expect((details.entries as unknown[]).slice(2, 6)).toEqual([
      { name: "b.txt", kind: "file" },
      { name: "broken", kind: "symlink", linkTarget: "nowhere" },
      { name: "Docs", kind: "directory" },
      { name: "link", kind: "symlink", linkTarget: "src", linkKind: "directory" },
    ]);
  });

  it("P06 P07 quotes names that would not be one clear word", async () => {
    const { text } = await ls({
      "a\nb": "x",
      "f\n": "x",
      f: "x",
      "\x1b[31m": "x",
      '"q"': "x",
      "x -> y": "x",
      " lead": "x",
      "-n": "x",
      "l\nk": { symlink: "a\nb" },
      odd: { symlink: "x (broken)" },
    });
    expect(text.split("\n")).toEqual([
      '"\\u001b[31m"',
      '" lead"',
      '"\\"q\\""',
      "-n",
      '"a\\nb"',
      "f",
      '"f\\n"',
      '"l\\nk" -> "a\\nb"',
      'odd -> "x (broken)" (broken)',
      '"x -> y"',
    ]);
  });

  it("P28 tells a link out of the root from a broken one", async () => {
    const files = {
      out: { symlink: "/etc/passwd" },
      up: { symlink: "../x" },
      "d/broken": { symlink: "../y" },
      broken: { symlink: "y" },
    } as const;
    expect((await ls(files, {}, "/workspace")).text).toBe(
      ["broken -> y (broken)", "d/", "out -> /etc/passwd (outside the root)", "up -> ../x (outside the root)"].join("\n"),
    );
    expect((await ls(files, { path: "d" }, "/workspace")).text).toBe("broken -> ../y (broken)");
    expect((await ls(files)).text).toContain("out -> /etc/passwd (broken)");
  });

  it("says that a directory is empty", async () => {
    expect((await ls({ d: { directory: true } }, { path: "d" })).text).toBe("d is an empty directory. Use write to put a file there.");
    expect((await ls({})).text).toBe(". is an empty directory. Use write to put a file there.");
  });

  it("stops at the limit, and says of how many", async () => {
    const files = Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`f${String(index).padStart(4, "0")}`, "x"]));
    const { text, details } = await ls(files);
    expect(text.split("\n").slice(-3)).toEqual([
      "f0499",
      "",
      "[Shown: the first 500 of 600 entries (limit). Raise limit, or look for names with find.]",
    ]);
    expect(details).toMatchObject({ total: 600, truncation: { shown: 500, total: 600, by: "limit" } });
    expect(details.entries).toHaveLength(500);
    expect((await ls(files, { limit: 600 })).details).not.toHaveProperty("truncation");
  });

  it("stops at 2,000 entries or 50 KiB whatever the limit", async () => {
    const many = Object.fromEntries(Array.from({ length: 2100 }, (_, index) => [`f${index}`, ""]));
    expect((await ls(many, { limit: 5000 })).text).toMatch(
      /\[Shown: the first 2,000 of 2,100 entries \(2,000 is the most\)\. Look for names with find\.\]$/,
    );
    const long = Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`${index}${"x".repeat(200)}`, ""]));
    const { text, details } = await ls(long);
    expect(text).toMatch(/\[Shown: the first 251 of 400 entries \(50 KiB is the most\)\. Look for names with find\.\]$/);
    expect(details).toMatchObject({ truncation: { shown: 251, total: 400, by: "bytes" } });
  });

  it("names the path that was used, and what is there when it is missing", async () => {
    expect((await ls({ "src/a": "x" }, { path: "@src" })).text).toBe("a\n\n[@src does not exist; src was used.]");
    expect((await ls({ "/home/user/x": "x" }, { path: "~" })).text).toBe("x\n\n[~ does not exist; /home/user was used.]");
    expect((await ls({ "src/a": "x" }, { path: "scr" })).text).toBe(
      "scr does not exist. The working directory has src. Use that if you meant it, or look with ls.",
    );
  });

  it("P01 P02 P25 refuses an empty path, lists the working directory, refuses a file", async () => {
    expect((await ls({ a: "x" }, { path: "" })).details).toMatchObject({ error: { code: "invalid_argument" } });
    expect((await ls({ a: "x" }, { path: "." })).text).toBe("a");
    expect((await ls({ "d/a": "x" }, { path: "d/" })).text).toBe("a");
    expect((await ls({ a: "x" }, { path: "a" })).details).toMatchObject({ error: { code: "not_directory" } });
  });

  it("is rendered as one line and its first 20", async () => {
    expect(lsTool.renderCall?.({}, { ansi: false })).toBe("ls .");
    const { result } = await ls(Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index + 10}`, ""])));
    expect(lsTool.renderResult?.(result, { ansi: false }).split("\n").at(-1)).toBe("... 10 more lines");
  });
});
