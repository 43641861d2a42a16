import assert from "node:assert/strict";
import type { ReadFileOptions } from "../../contract/operations.js";
import { type ContractContext, casesOf } from "../contract-case.js";

async function readLines({ environment, path }: ContractContext, name: string, lines: NonNullable<ReadFileOptions["lines"]>) {
  const read = await environment.readFile(path(name), { lines });
  return { ...read, text: Buffer.from(read.data).toString("latin1") };
}

export const readLinesCases = casesOf("read lines", [
  {
    name: "`lines` returns those lines, line feeds included, and how many there are",
    quick: true,
    async run(context) {
      await context.write("a.txt", "one\ntwo\nthree\nfour\n");
      const first = await readLines(context, "a.txt", { start: 1, count: 1 });
      assert.equal(first.text, "one\n");
      assert.equal(first.totalLines, 4);
      assert.equal(first.size, 19);
      assert.equal((await readLines(context, "a.txt", { start: 2, count: 2 })).text, "two\nthree\n");
      assert.equal((await readLines(context, "a.txt", { start: 4, count: 100 })).text, "four\n");
      assert.equal((await readLines(context, "a.txt", { start: 1, count: 4 })).text, "one\ntwo\nthree\nfour\n");
    },
  },
  {
    name: "a final line feed ends the last line and starts none",
    id: "C02",
    async run(context) {
      await context.write("with", "a\nb\n");
      await context.write("without", "a\nb");
      await context.write("only", "\n");
      await context.write("two", "\n\n");
      assert.equal((await readLines(context, "with", { start: 1, count: 9 })).totalLines, 2);
      const without = await readLines(context, "without", { start: 2, count: 1 });
      assert.deepEqual([without.text, without.totalLines], ["b", 2]);
      const only = await readLines(context, "only", { start: 1, count: 1 });
      assert.deepEqual([only.text, only.totalLines], ["\n", 1]);
      assert.equal((await readLines(context, "two", { start: 1, count: 9 })).totalLines, 2);
    },
  },
  {
    name: "an empty file has 0 lines",
    id: "C01",
    async run(context) {
      await context.write("empty", "");
      const read = await readLines(context, "empty", { start: 1, count: 10 });
      assert.deepEqual([read.text, read.totalLines, read.size, read.firstLineBytes], ["", 0, 0, undefined]);
      assert.equal(read.head?.byteLength, 0);
    },
  },
  {
    name: "a start past the end returns nothing, and how many lines there are",
    id: "C01",
    async run(context) {
      await context.write("a.txt", "one\ntwo\n");
      for (const start of [3, 4, 1_000_000_000]) {
        const read = await readLines(context, "a.txt", { start, count: 5 });
        assert.deepEqual([read.text, read.totalLines], ["", 2], `start ${start}`);
      }
    },
  },
  {
    name: "carriage returns are bytes like others: only a line feed ends a line",
    id: "C02",
    async run(context) {
      await context.write("mixed", "a\r\nb\rc\n\rd");
      const read = await readLines(context, "mixed", { start: 1, count: 2 });
      assert.deepEqual([read.text, read.totalLines], ["a\r\nb\rc\n", 3]);
      await context.write("cr", "\r");
      assert.equal((await readLines(context, "cr", { start: 1, count: 1 })).totalLines, 1);
    },
  },
  {
    name: "the bytes of a line come exact, NULs and invalid UTF-8 included",
    id: "C07",
    async run(context) {
      await context.write("binary", Buffer.from("one\n\0\xff\xfe\x80x\0\nthree\n", "latin1"));
      const read = await readLines(context, "binary", { start: 2, count: 1 });
      assert.deepEqual([read.text, read.totalLines], ["\0\xff\xfe\x80x\0\n", 3]);
    },
  },
  {
    name: "the first 8 KiB come along as `head`, wherever the slice is",
    async run(context) {
      const content = "0123456789abcde\n".repeat(1000);
      await context.write("long", content);
      const read = await readLines(context, "long", { start: 900, count: 1 });
      const head = Buffer.from(read.head ?? []).toString();
      assert.ok(head.length > 0 && head.length <= 8192, `head has ${head.length} bytes`);
      assert.equal(head, content.slice(0, head.length));
      await context.write("short", "\x89PNG");
      assert.equal(Buffer.from((await readLines(context, "short", { start: 1, count: 1 })).head ?? []).toString(), "\x89PNG");
    },
  },
  {
    name: "the slice is cut at maxBytes, mid-line if need be",
    async run(context) {
      await context.write("a.txt", "0123456789\nabcdefghij\nklm\n");
      assert.equal((await readLines(context, "a.txt", { start: 1, count: 3, maxBytes: 15 })).text, "0123456789\nabcd");
      const cut = await readLines(context, "a.txt", { start: 2, count: 1, maxBytes: 4 });
      assert.deepEqual([cut.text, cut.totalLines, cut.firstLineBytes], ["abcd", 3, 10]);
    },
  },
  {
    name: "firstLineBytes is there only when the first line alone is longer than maxBytes",
    async run(context) {
      await context.write("a.txt", "0123456789\nab\n");
      const lengthWith = async (maxBytes: number, start = 1) =>
        (await readLines(context, "a.txt", { start, count: 2, maxBytes })).firstLineBytes;
      assert.equal(await lengthWith(9), 10);
      assert.equal(await lengthWith(10), undefined);
      assert.equal(await lengthWith(11), undefined);
      assert.equal(await lengthWith(2, 2), undefined);
      await context.write("unended", "0123456789");
      assert.equal((await readLines(context, "unended", { start: 1, count: 1, maxBytes: 3 })).firstLineBytes, 10);
    },
  },
  {
    name: "without maxBytes at most 1 MiB comes back",
    async run(context) {
      await context.write("wide", "x".repeat(1_500_000));
      const read = await readLines(context, "wide", { start: 1, count: 1 });
      assert.equal(read.data.byteLength, 1_048_576);
      assert.equal(read.firstLineBytes, 1_500_000);
      assert.equal(read.totalLines, 1);
    },
  },
  {
    name: "lines deep in a long file are found",
    async run(context) {
      const content = Array.from({ length: 20_000 }, (_, index) => `line ${index + 1}\n`).join("");
      await context.write("long", content);
      const read = await readLines(context, "long", { start: 19_999, count: 2 });
      assert.deepEqual([read.text, read.totalLines], ["line 19999\nline 20000\n", 20_000]);
    },
  },
]);
