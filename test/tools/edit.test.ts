import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bindTool } from "../../src/contract/tool.js";
import { editTool } from "../../src/tools/edit.js";
import { call, openMemory } from "./support.js";

type Edits = readonly { readonly oldText: string; readonly newText: string }[];

async function edit(content: string | Uint8Array, edits: Edits | object, path = "a.txt") {
  const environment = await openMemory({ files: { [path]: { data: content } } });
  const before = (await environment.stat(path)).mtimeMs;
  environment.disk.touch(path, 1000);
  const called = await call(bindTool(editTool, environment), { path, edits });
  const { data } = await environment.readFile(path);
  const { mtimeMs } = await environment.stat(path);
  return { ...called, environment, after: Buffer.from(data), touched: mtimeMs !== 1000 && before > 0 };
}

const sha256 = (text: string | Uint8Array): string => createHash("sha256").update(text).digest("hex");

describe("edit, done", () => {
  it("says what was replaced where, with a diff for people and a patch", async () => {
    const { text, isError, details, after, environment } = await edit("one\ntwo\nthree\nfour\nfive\n", [
      { oldText: "two", newText: "2" },
      { oldText: "five", newText: "5\n6" },
    ]);
    expect(text).toBe("Edited a.txt: 2 replacements at lines 2 and 5 (+3 -2).");
    expect(isError).toBe(false);
    expect(after.toString()).toBe("one\n2\nthree\nfour\n5\n6\n");
    expect(details).toEqual({
      path: "a.txt",
      canonicalPath: "/workspace/a.txt",
      replacements: [
        { edit: 0, line: 2, overlooked: [] },
        { edit: 1, line: 5, overlooked: [] },
      ],
      addedLines: 3,
      removedLines: 2,
      diff: " 1 one\n-2 two\n+2 2\n 3 three\n 4 four\n-5 five\n+5 5\n+6 6",
      patch: "--- a/a.txt\n+++ b/a.txt\n@@ -1,5 +1,6 @@\n one\n-two\n+2\n three\n four\n-five\n+5\n+6\n",
      beforeSha256: sha256("one\ntwo\nthree\nfour\nfive\n"),
      afterSha256: sha256("one\n2\nthree\nfour\n5\n6\n"),
    });
    expect(environment.calls.map(({ verb }) => verb).slice(1, 3)).toEqual(["readFile", "writeFile"]);
    expect(environment.calls[2]?.options).toMatchObject({ ifMatch: sha256("one\ntwo\nthree\nfour\nfive\n") });
  });

  it("C17 reports what an inexact match overlooked", async () => {
    const { text, after, details } = await edit("say “hi” – now  \r\nrest\r\n", [
      { oldText: 'say "hi" - now\nrest', newText: "bye\nrest" },
    ]);
    expect(text).toBe(
      [
        "Edited a.txt: 1 replacement at line 1 (+1 -1).",
        "edits[0] matched line 1 only when differences in line endings, trailing blanks, quotes and dashes were overlooked.",
        "Read these lines if that may not be what you meant.",
      ].join("\n"),
    );
    expect(after.toString()).toBe("bye\r\nrest\r\n");
    expect(details).toMatchObject({ replacements: [{ overlooked: ["line endings", "trailing blanks", "quotes", "dashes"] }] });
  });

  it("C03 says that the file's line endings were kept", async () => {
    const { text, after } = await edit("one\r\ntwo\r\n", [{ oldText: "one\ntwo\n", newText: "1\n2\n3\n" }]);
    expect(text).toBe(
      "Edited a.txt: 1 replacement at line 1 (+3 -2).\nedits[0] matched line 1 but for its line endings; the file's own were kept.",
    );
    expect(after.toString()).toBe("1\r\n2\r\n3\r\n");
  });

  it("C02 C04 C05 keeps every byte outside the ranges: mark, endings, invalid bytes, no final line feed", async () => {
    const before = Buffer.from("\xef\xbb\xbfa \r\ncaf\xe9\nb\rc\xff", "latin1");
    const { after, details } = await edit(before, [{ oldText: "b", newText: "B" }]);
    expect(after).toEqual(Buffer.from("\xef\xbb\xbfa \r\ncaf\xe9\nB\rc\xff", "latin1"));
    expect(details).toMatchObject({ patchOmitted: "encoding" });
    expect(details).not.toHaveProperty("patch");
  });

  it("leaves out a diff that nobody could read", async () => {
    const { details, text } = await edit("x\n".repeat(300_000), [{ oldText: "x\n".repeat(300_000), newText: "y\n".repeat(300_000) }]);
    expect(text).toBe("Edited a.txt: 1 replacement at line 1 (+300000 -300000).");
    expect(details).toMatchObject({ patchOmitted: "size", addedLines: 300_000 });
    expect(details).not.toHaveProperty("diff");
  });

  it("has a patch that patch applies from the working directory", async () => {
    const directory = mkdtempSync(join(tmpdir(), "edit-test-"));
    try {
      const before = "1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n9";
      const { details, after } = await edit(before, [{ oldText: "8\n9", newText: "eight\nnine\n" }], "it's a file");
      writeFileSync(join(directory, "it's a file"), before);
      execFileSync("patch", ["-p1", "--fuzz=0", "--quiet"], { cwd: directory, input: String(details.patch) });
      expect(readFileSync(join(directory, "it's a file"))).toEqual(after);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it("names files outside the working directory from the root", async () => {
    expect((await edit("a\n", [{ oldText: "a", newText: "b" }], "/tmp/x")).details.patch).toBe(
      "--- a/tmp/x\n+++ b/tmp/x\n@@ -1,1 +1,1 @@\n-a\n+b\n",
    );
  });

  it("names the path that was used", async () => {
    const environment = await openMemory({ files: { "src/a": "x\n" } });
    const { text, details } = await call(bindTool(editTool, environment), { path: "@src/a", edits: [{ oldText: "x", newText: "y" }] });
    expect(text).toBe("Edited src/a: 1 replacement at line 1 (+1 -1).\n[@src/a does not exist; src/a was used.]");
    expect(details).toMatchObject({ path: "src/a" });
    expect(environment.snapshot()).toEqual({ "src/a": "y\n" });
  });
});

describe("edit, refused, nothing touched", () => {
  const content = "function total(items) {\n  return items.length;\n}\nend\nend\n";

  it.each<[string, Edits, string]>([
    [
      "C11 empty",
      [{ oldText: "", newText: "x" }],
      "a.txt was not changed: oldText is empty. Give the text to replace; to fill a file from nothing use write.",
    ],
    [
      "C11 blank",
      [{ oldText: " \n\t\n", newText: "x" }],
      "a.txt was not changed: oldText is only blanks and is not in the file exactly so. Include text around it.",
    ],
    [
      "C12 not found, one near",
      [{ oldText: "function totals(item) {", newText: "x" }],
      "a.txt was not changed: oldText was not found. The line most like its first one is line 1: function total(items) {\nRead the file there and copy the text as it is.",
    ],
    [
      "C12 not found, none near",
      [{ oldText: "SELECT 1", newText: "x" }],
      "a.txt was not changed: oldText was not found. No line is like its first one. Read the file and copy the text as it is.",
    ],
    [
      "C12 several",
      [{ oldText: "end", newText: "x" }],
      "a.txt was not changed: oldText was found 2 times, at lines 4 and 5. Include more of the text around the one you mean.",
    ],
    [
      "C13 no change",
      [{ oldText: "total", newText: "total" }],
      "No change: the new text is what a.txt holds already, so it was not touched. Send text that differs, or go on.",
    ],
    [
      "overlap",
      [
        { oldText: "function total", newText: "x" },
        { oldText: "total(items)", newText: "y" },
      ],
      "a.txt was not changed: edits[0] and edits[1] overlap at line 1. Join them into one edit.",
    ],
    [
      "all problems at once",
      [
        { oldText: "", newText: "x" },
        { oldText: "items.length", newText: "items.size" },
        { oldText: "end", newText: "y" },
        { oldText: "SELECT 1", newText: "z" },
      ],
      [
        "a.txt was not changed: 3 problems.",
        "oldText of edits[0] is empty. Give the text to replace; to fill a file from nothing use write.",
        "oldText of edits[2] was found 2 times, at lines 4 and 5. Include more of the text around the one you mean.",
        "oldText of edits[3] was not found. No line is like its first one. Read the file and copy the text as it is.",
      ].join("\n"),
    ],
  ])("%s", async (_, edits, message) => {
    const { text, isError, after, touched, details } = await edit(content, edits);
    expect(text).toBe(message);
    expect(isError).toBe(true);
    expect(after.toString()).toBe(content);
    expect(touched).toBe(false);
    expect(details).toMatchObject({ path: "a.txt", error: { code: "invalid_argument", retrySafe: true } });
    expect((details.problems as unknown[]).length).toBeGreaterThan(0);
  });

  it("C12 says when several match inexactly only, and when there are more than can be named", async () => {
    expect((await edit("‘x’\n‘x’\n", [{ oldText: "'x'", newText: "y" }])).text).toBe(
      "a.txt was not changed: oldText was found 2 times inexactly (never exactly), at lines 1 and 2. Include more of the text around the one you mean.",
    );
    expect((await edit("x\n".repeat(12), [{ oldText: "x", newText: "y" }])).text).toBe(
      "a.txt was not changed: oldText was found 12 times, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9 and 10 and more. Include more of the text around the one you mean.",
    );
  });

  it("P07 shows the closest line escaped", async () => {
    expect((await edit("say \x1b[31mhello there\n", [{ oldText: "say hello there", newText: "y" }])).text).toContain(
      "line 1: say \\x1b[31mhello there\n",
    );
  });

  it("C05 C07 refuses what is no UTF-8 text", async () => {
    const message = async (content: string) => (await edit(Buffer.from(content, "latin1"), [{ oldText: "a", newText: "b" }])).text;
    expect(await message("\xff\xfea\0")).toBe("a.txt is binary (UTF-16LE text); edit changes UTF-8 text only. Change it with bash.");
    expect(await message("a\0b")).toBe("a.txt is binary (data with NUL bytes); edit changes UTF-8 text only. Change it with bash.");
    expect(await message("\x89PNG\r\n\x1a\n")).toBe("a.txt is binary (png image); edit changes UTF-8 text only. Change it with bash.");
  });

  it("refuses a file of more than 16 MiB without fetching it whole", async () => {
    const { text, details, environment } = await edit("x".repeat(16 * 1024 * 1024 + 1), [{ oldText: "a", newText: "b" }]);
    expect(text).toBe("a.txt is 16,777,217 bytes; edit takes files up to 16 MiB. Change it with bash (sed, awk).");
    expect(details).toMatchObject({ error: { code: "too_large" } });
    expect(environment.calls[1]?.options).toMatchObject({ bytes: { offset: 0, length: 16 * 1024 * 1024 + 1 } });
  });

  it("C18 names what is there when the file is gone", async () => {
    const environment = await openMemory({ files: { "main.ts": "x" } });
    const { text } = await call(bindTool(editTool, environment), { path: "mian.ts", edits: [{ oldText: "a", newText: "b" }] });
    expect(text).toBe("mian.ts does not exist. The working directory has main.ts. Use that if you meant it, or look with ls.");
  });

  it.each([
    ["P02", ".", "is_directory"],
    ["P24", "fifo", "not_regular"],
    ["P01", "", "invalid_argument"],
  ])("%s %j is refused", async (_, path, code) => {
    const environment = await openMemory({ files: { fifo: { special: "fifo" } } });
    expect((await call(bindTool(editTool, environment), { path, edits: [{ oldText: "a", newText: "b" }] })).details).toMatchObject({
      error: { code },
    });
  });

  it("P20 refuses half a character", async () => {
    const tool = bindTool(editTool, await openMemory({ files: { a: "x" } }));
    const options = { id: "1", signal: new AbortController().signal, onUpdate() {} };
    await expect(tool.execute({ path: "a", edits: [{ oldText: "x", newText: "\udc00" }] }, options)).rejects.toThrow(
      "edits[0].newText holds half of a surrogate pair at character 1, which is no text. Send whole characters.",
    );
  });
});

describe("edit, rendering", () => {
  it("shows the diff in colours, escaped", async () => {
    expect(editTool.renderCall?.({ path: "a", edits: [{ oldText: "", newText: "" }] }, { ansi: false })).toBe("edit a (1 edit)");
    const { result } = await edit("a\nold\x1b[0m\n", [{ oldText: "old", newText: "new" }]);
    expect(editTool.renderResult?.(result, { ansi: false })).toBe(
      "Edited a.txt: 1 replacement at line 2 (+1 -1).\n 1 a\n-2 old\\x1b[0m\n+2 new\\x1b[0m",
    );
    expect(editTool.renderResult?.(result, { ansi: true })).toBe(
      "Edited a.txt: 1 replacement at line 2 (+1 -1).\n\x1b[2m 1 a\x1b[22m\n\x1b[31m-2 old\\x1b[0m\x1b[39m\n\x1b[32m+2 new\\x1b[0m\x1b[39m",
    );
  });
});
