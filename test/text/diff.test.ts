import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { diffReplacements, formatDiff, formatPatch, isExact } from "../../src/text/diff.js";
import { decodeLossless } from "../../src/text/utf8.js";

/** What changes from one text to another, as one replacement of all of it. */
const diffLines = (before: string, after: string) => diffReplacements(before, [{ start: 0, end: before.length, text: after }]);

const directory = mkdtempSync(join(tmpdir(), "diff-test-"));
afterAll(() => rmSync(directory, { recursive: true }));

interface Change {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

async function patchOf({ name, before, after }: Change): Promise<string> {
  return formatPatch(name, await diffLines(before, after));
}

/** Writes what was before, runs one tool over all patches, and reads what is there then. */
async function applyAll(tool: "patch" | "git", changes: readonly Change[]): Promise<string[]> {
  const root = mkdtempSync(join(directory, `${tool}-`));
  for (const { name, before } of changes) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), before);
  }
  const patches = await Promise.all(changes.filter(({ before, after }) => before !== after).map(patchOf));
  const [command, ...args] = tool === "patch" ? ["patch", "-p1", "--fuzz=0", "--quiet"] : ["git", "apply", "--whitespace=nowarn"];
  execFileSync(command ?? "", args, { cwd: root, input: patches.join(""), stdio: ["pipe", "pipe", "pipe"] });
  return changes.map(({ name }) => readFileSync(join(root, name), "utf8"));
}

const line = fc.tuple(
  fc.constantFrom("a", "b", "c", "", "é", "-x", "+y", "@@ -1 +1 @@", "\\ no", "--- z", "d\re"),
  fc.constantFrom("\n", "\n", "\r\n"),
);
const text = fc
  .tuple(fc.array(line, { maxLength: 25 }), fc.constantFrom("", "", "tail", "e\r"))
  .map(([lines, tail]) => lines.map((parts) => parts.join("")).join("") + tail);

describe("formatPatch", () => {
  it("applies with patch and with git apply, whatever the lines (property)", async () => {
    const changes = fc.sample(fc.tuple(text, text, fc.boolean()), { numRuns: 400, seed: 4 }).map(([one, other, near], index) => ({
      name: `f${index}`,
      before: one === "" ? "x\n" : one,
      // Half of them are small changes of a longer text, as edits are.
      after: near ? `${one.slice(0, one.length / 2)}new\n${one.slice(one.length / 2)}` : other === "" ? "y\n" : other,
    }));
    const wanted = changes.map(({ after }) => after);
    expect(await applyAll("patch", changes)).toEqual(wanted);
    expect(await applyAll("git", changes)).toEqual(wanted);
  });

  it("applies when many places are replaced at once (property)", async () => {
    const cuts = fc.array(fc.tuple(fc.nat(1000), fc.nat(6), fc.constantFrom("", "new", "a\n", "\n", "x\ny\n")), {
      minLength: 1,
      maxLength: 6,
    });
    const long = fc.array(line, { minLength: 10, maxLength: 60 }).map((lines) => lines.map((parts) => parts.join("")).join(""));
    const root = mkdtempSync(join(directory, "many-"));
    const patches: string[] = [];
    const wanted = fc.sample(fc.tuple(long, cuts), { numRuns: 500, seed: 5 }).map(([before, places], index) => {
      let at = 0;
      const replacements = places
        .toSorted(([one], [other]) => one - other)
        .flatMap(([place, length, by]) => {
          const start = Math.max(at, Math.floor((place * before.length) / 1000));
          const end = Math.min(before.length, start + length);
          at = end;
          return [{ start, end, text: by }];
        });
      writeFileSync(join(root, `f${index}`), before);
      let [after, from] = ["", 0];
      for (const { start, end, text: by } of replacements) {
        after += before.slice(from, start) + by;
        from = end;
      }
      return { name: `f${index}`, before, after: after + before.slice(from), replacements };
    });
    for (const { name, before, replacements } of wanted) {
      const diff = await diffReplacements(before, replacements);
      if (diff.hunks.length > 0) patches.push(formatPatch(name, diff));
    }
    execFileSync("patch", ["-p1", "--fuzz=0", "--quiet"], { cwd: root, input: patches.join(""), stdio: ["pipe", "pipe", "pipe"] });
    expect(wanted.map(({ name }) => readFileSync(join(root, name), "utf8"))).toEqual(wanted.map(({ after }) => after));
  });

  it("P06 P07 P10 applies to names that need quoting", async () => {
    const names = ["with space", "tab\there", 'quote"d', "back\\slash", "é", "new\nline", "dir/ sub/it's", "-n", "😀"];
    const changes = names.map((name) => ({ name, before: "a\n", after: "b\n" }));
    expect(await applyAll("patch", changes)).toEqual(names.map(() => "b\n"));
    expect(await applyAll("git", changes)).toEqual(names.map(() => "b\n"));
  });

  it("is a unified diff with three lines of context", async () => {
    const before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    expect(await patchOf({ name: "src/a.txt", before, after: before.replace("5\n", "five\nand\n") })).toBe(
      "--- a/src/a.txt\n+++ b/src/a.txt\n@@ -2,7 +2,8 @@\n 2\n 3\n 4\n-5\n+five\n+and\n 6\n 7\n 8\n",
    );
  });

  it("C02 says where a final line feed is missing", async () => {
    expect(await patchOf({ name: "a", before: "1\n2", after: "1\n2\n" })).toBe(
      "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n 1\n-2\n\\ No newline at end of file\n+2\n",
    );
  });
});

describe("diffLines", () => {
  it("counts what is added and removed, and finds nothing in equal texts", async () => {
    expect(await diffLines("a\nb\nc\n", "a\nB\nb2\nc\n")).toMatchObject({ added: 2, removed: 1 });
    expect(await diffLines("same\n", "same\n")).toEqual({ hunks: [], added: 0, removed: 0, length: 0 });
  });

  it("gives the changed region as one block when a finer answer takes too long", async () => {
    let seed = 1;
    const random = (): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed;
    };
    const noise = (): string => Array.from({ length: 20_000 }, () => random().toString(36)).join("\n");
    const [before, after] = [`head\n${noise()}\nfoot\n`, `head\n${noise()}\nfoot\n`];
    const diff = await diffLines(before, after);
    expect(diff.hunks).toHaveLength(1);
    const change = { name: "noise", before, after };
    expect((await applyAll("patch", [change]))[0] === after).toBe(true);
  });

  it("C05 keeps bytes that are not UTF-8 apart, and says that no text can hold them", async () => {
    const before = decodeLossless(Buffer.from("a\ncaf\xe9\nb\n", "latin1")).text;
    const diff = await diffLines(before, before.replace("b", "B"));
    expect(isExact(diff)).toBe(false);
    expect(formatDiff(diff)).toBe(" 1 a\n 2 caf\ufffd\n-3 b\n+3 B");
    expect(isExact(await diffLines("é\n", "è\n"))).toBe(true);
  });
});

describe("formatDiff", () => {
  it("numbers the lines, and parts what is apart", async () => {
    const before = `${Array.from({ length: 30 }, (_, index) => `line ${index + 1}`).join("\r\n")}\r\n`;
    const diff = await diffLines(before, before.replace("line 3\r\n", "").replace("line 20\r\n", "twenty\r\nand\r\n"));
    expect(formatDiff(diff)).toBe(
      [
        "  1 line 1",
        "  2 line 2",
        "- 3 line 3",
        "  3 line 4",
        "  4 line 5",
        "  5 line 6",
        "...",
        " 16 line 17",
        " 17 line 18",
        " 18 line 19",
        "-20 line 20",
        "+19 twenty",
        "+20 and",
        " 21 line 21",
        " 22 line 22",
        " 23 line 23",
      ].join("\n"),
    );
  });
});
