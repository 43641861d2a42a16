import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { bindTool } from "../../src/contract/tool.js";
import { readTool } from "../../src/tools/read.js";
import { call, openMemory } from "./support.js";

const lines = (count: number): string => `${Array.from({ length: count }, (_, index) => `line ${index + 1}`).join("\n")}\n`;

async function read(file: string | Uint8Array, parameters: object = {}, name = "a.txt") {
  const environment = await openMemory({ files: { [name]: { data: file } } });
  return await call(bindTool(readTool, environment), { path: name, ...parameters });
}

describe("read, text", () => {
  it("shows a whole file as it is, without the final line feed", async () => {
    const { text, details, isError } = await read("one\r\n  two\n\nfour\n");
    expect(text).toBe("one\r\n  two\n\nfour");
    expect(isError).toBe(false);
    expect(details).toEqual({
      path: "a.txt",
      canonicalPath: "/workspace/a.txt",
      bytes: 17,
      kind: "text",
      totalLines: 4,
      startLine: 1,
      endLine: 4,
    });
  });

  it("C01 says that an empty file is empty", async () => {
    expect((await read("")).text).toMatchInlineSnapshot(`"a.txt is empty: 0 bytes. There is nothing to read; use write to fill it."`);
    expect((await read("", { offset: 3 })).text).toMatchInlineSnapshot(`"Offset 3 is past the end: a.txt is empty. Use write to fill it."`);
  });

  it("C01 names how many lines there are when the offset is past the end", async () => {
    const { text, isError, details } = await read(lines(10), { offset: 1e9 });
    expect(text).toMatchInlineSnapshot(`"Offset 1000000000 is past the end: a.txt has 10 lines. Give an offset from 1 to 10."`);
    expect(isError).toBe(true);
    expect(details).toMatchObject({ totalLines: 10, error: { code: "invalid_argument", retrySafe: true } });
    expect((await read(lines(10), { offset: 1e300 })).details).toMatchObject({ error: { code: "invalid_argument" } });
    expect((await read("only\n", { offset: 2 })).text).toMatchInlineSnapshot(
      `"Offset 2 is past the end: a.txt has 1 line. Give an offset of 1."`,
    );
  });

  it.each([
    { offset: 0 },
    { offset: -1 },
    { offset: 1.5 },
    { offset: Number.NaN },
    { limit: 0 },
    { limit: -1 },
    { limit: 0.5 },
    { limit: "x" },
  ])("C01 refuses %j by schema", async (parameters) => {
    const tool = bindTool(readTool, await openMemory());
    expect(tool.validate({ path: "a", ...parameters }).ok).toBe(false);
  });

  it("says how many lines remain after a limit, and where to go on", async () => {
    const { text, details } = await read(lines(10), { offset: 3, limit: 2 });
    expect(text).toMatchInlineSnapshot(`
      "line 3
      line 4

      [Lines 3 to 4 of 10 (limit 2): 6 lines remain. Read on with offset 5.]"
    `);
    expect(details).toMatchObject({ startLine: 3, endLine: 4, nextOffset: 5, truncation: { shown: 2, total: 8, by: "limit" } });
    expect((await read(lines(10), { offset: 8, limit: 2 })).text).toMatchInlineSnapshot(`
      "line 8
      line 9

      [Lines 8 to 9 of 10 (limit 2): 1 line remains. Read on with offset 10.]"
    `);
    expect((await read(lines(10), { offset: 9, limit: 2 })).text).toBe("line 9\nline 10");
  });

  it("stops at 2,000 lines", async () => {
    const { text, details } = await read(lines(2500));
    expect(text).toBe(
      `${lines(2000)}\n[Lines 1 to 2000 of 2500 (2,000 lines is the most for one call): 500 lines remain. Read on with offset 2001.]`,
    );
    expect(details).toMatchObject({ nextOffset: 2001, truncation: { shown: 2000, total: 2500, by: "lines" } });
    expect((await read(lines(2500), { limit: 9999 })).details).toMatchObject({ truncation: { by: "lines" } });
    expect((await read(lines(2000))).details).not.toHaveProperty("truncation");
  });

  it("stops at 50 KiB, after a whole line", async () => {
    const { text, details } = await read(`${"x".repeat(999)}\n`.repeat(60));
    expect(text).toBe(
      `${`${"x".repeat(999)}\n`.repeat(51)}\n[Lines 1 to 51 of 60 (50 KiB is the most for one call): 9 lines remain. Read on with offset 52.]`,
    );
    expect(details).toMatchObject({ endLine: 51, nextOffset: 52, truncation: { shown: 51, total: 60, by: "bytes" } });
    expect((await read("x".repeat(51_200))).text).toBe("x".repeat(51_200));
    expect((await read(`${"x".repeat(51_200)}\n`)).text).toBe("x".repeat(51_200));
    expect((await read(`\ufeff${"x".repeat(51_200)}\n`)).text).toBe("x".repeat(51_200));
    expect((await read(`a\n${"x".repeat(51_198)}`)).details).not.toHaveProperty("truncation");
    expect((await read(`a\n${"x".repeat(51_199)}`)).details).toMatchObject({ endLine: 1, truncation: { by: "bytes" } });
  });

  it("C08 shows no broken character where it stops", async () => {
    const { text } = await read(`${"é😀".repeat(100)}\n`.repeat(200));
    expect(text).not.toContain("\ufffd");
    expect(text.startsWith(`${"é😀".repeat(100)}\n`)).toBe(true);
  });

  it("names the length of a line that is too long, and how to see its start", async () => {
    const content = `short\n${"x".repeat(1_200_000)}\nlast`;
    const first = await read(content, {}, "it's.txt");
    expect(first.text).toMatchInlineSnapshot(`
      "short

      [Line 1 of 3 (50 KiB is the most for one call): 2 lines remain. Read on with offset 2.]"
    `);
    const second = await read(content, { offset: 2 }, "it's.txt");
    expect(second.text).toMatchInlineSnapshot(
      `"Line 2 of it's.txt alone is 1,200,000 bytes, more than the 50 KiB that one call can show. The next line is at offset 3. See its start with bash: sed -n 2p 'it'\\''s.txt' | head -c 2000"`,
    );
    expect(second.details).toMatchObject({ longLineBytes: 1_200_000, nextOffset: 3, truncation: { shown: 0, total: 2, by: "bytes" } });
    expect((await read("x".repeat(51_201), {}, "-n")).text).toMatchInlineSnapshot(
      `"Line 1 of -n alone is 51,201 bytes, more than the 50 KiB that one call can show. See its start with bash: sed -n 1p ./-n | head -c 2000"`,
    );
  });

  it("C05 does not show a byte order mark", async () => {
    expect((await read("\ufeffone\n")).text).toBe("one");
    expect((await read("\ufeffone\n\ufefftwo\n", { offset: 2 })).text).toBe("\ufefftwo");
  });

  it("shows what is not UTF-8 as U+FFFD, and says so", async () => {
    const { text, details } = await read(Buffer.from("caf\xe9\nok\n", "latin1"));
    expect(text).toMatchInlineSnapshot(`
      "caf�
      ok

      [Some bytes are not UTF-8 and show as U+FFFD. Use bash for them: od -c, or iconv from their encoding.]"
    `);
    expect(details).toMatchObject({ invalidUtf8: true });
    expect((await read(Buffer.from("caf\xe9\nok\n", "latin1"), { offset: 2 })).text).toBe("ok");
    expect((await read("a real \ufffd\n")).text).toBe("a real \ufffd");
  });

  it("C02 says that a blank line is blank", async () => {
    expect((await read("\n")).text).toMatchInlineSnapshot(`"[Line 1 is blank.]"`);
    expect((await read("a\n\nb\n", { offset: 2, limit: 1 })).text).toMatchInlineSnapshot(`
      "[Line 2 is blank.]
      [Line 2 of 3 (limit 1): 1 line remains. Read on with offset 3.]"
    `);
    expect((await read("\r")).text).toBe("\r");
  });
});

describe("read, binary", () => {
  it("C07 names type and size, and prints nothing", async () => {
    const { text, isError, details } = await read(gzipSync("x".repeat(100_000)), {}, "a b.gz");
    expect(text).toMatchInlineSnapshot(
      `"a b.gz is binary (gzip archive, 132 bytes), so it is not printed. Look at it with bash: od -c -N 256 'a b.gz'"`,
    );
    expect(isError).toBe(false);
    expect(details).toMatchObject({ kind: "binary", type: "gzip archive" });
    expect((await read("text\0more")).text).toMatchInlineSnapshot(
      `"a.txt is binary (data with NUL bytes, 9 bytes), so it is not printed. Look at it with bash: od -c -N 256 a.txt"`,
    );
  });

  it("C05 names UTF-16 and how to read it", async () => {
    expect((await read(Buffer.from("\ufeffhi", "utf16le"))).text).toMatchInlineSnapshot(
      `"a.txt is binary (UTF-16LE text, 6 bytes), so it is not printed. Look at it with bash: iconv -f UTF-16LE -t UTF-8 a.txt"`,
    );
  });
});

describe("read, one trip", () => {
  it("takes one verb call for a text", async () => {
    const environment = await openMemory({ files: { a: "x\n" } });
    await call(bindTool(readTool, environment), { path: "a" });
    expect(environment.calls.map(({ verb }) => verb)).toEqual(["readFile"]);
  });

  it("reports progress while it waits, and stops when it is aborted", async () => {
    const environment = await openMemory({ files: { a: "x\n" } });
    environment.delay("readFile", 1300);
    const slow = await call(bindTool(readTool, environment), { path: "a" });
    expect(slow.text).toBe("x");
    expect(slow.updates).toEqual(["Reading a: 1 second so far."]);
    const controller = new AbortController();
    const aborted = call(bindTool(readTool, environment), { path: "a" }, { signal: controller.signal });
    controller.abort();
    expect((await aborted).details).toMatchObject({ error: { code: "aborted" } });
  });
});

describe("read, rendering", () => {
  it("says what is called on one line, escaped", () => {
    const render = (parameters: Parameters<NonNullable<typeof readTool.renderCall>>[0], ansi = false) =>
      readTool.renderCall?.(parameters, { ansi });
    expect(render({ path: "a\nb\x1b[31m" })).toBe("read a\\nb\\x1b[31m");
    expect(render({ path: "a", offset: 10 })).toBe("read a:10");
    expect(render({ path: "a", offset: 10, limit: 5 })).toBe("read a:10-14");
    expect(render({ path: "a", limit: 5 }, true)).toBe("\x1b[1mread\x1b[22m \x1b[36ma:1-5\x1b[39m");
  });

  it("shows the first 20 lines of a result, escaped", async () => {
    const { result } = await read(`\x1b]0;title\x07\n${lines(40)}`);
    const shown = readTool.renderResult?.(result, { ansi: false }) ?? "";
    expect(shown.split("\n")[0]).toBe("\\x1b]0;title\\x07");
    expect(shown.split("\n").slice(-2)).toEqual(["line 19", "... 21 more lines"]);
  });
});
