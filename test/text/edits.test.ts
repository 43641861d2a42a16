import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Edit, planEdits } from "../../src/text/edits.js";
import { decodeLossless, encodeLossless } from "../../src/text/utf8.js";

function apply(content: string, ...edits: Edit[]): string {
  const plan = planEdits(content, edits);
  if (!plan.ok) throw new Error(JSON.stringify(plan.problems));
  return plan.text;
}

function problems(content: string, ...edits: Edit[]) {
  const plan = planEdits(content, edits);
  return plan.ok ? [] : plan.problems;
}

const line = fc.string({ unit: fc.constantFrom("a", "b", "é", " ", "$&", ".*", "\u{1f600}", "“", "–"), maxLength: 6 });
const ending = fc.constantFrom("\n", "\r\n", "\r");
const lines = fc.array(fc.tuple(line, ending), { maxLength: 8 }).map((parts) => parts.map(([text, end]) => text + end).join(""));

describe("planEdits, exact", () => {
  it("replaces every range and nothing else, all matched against the original (property)", () => {
    fc.assert(
      fc.property(fc.array(fc.record({ between: lines, old: line, new: line }), { maxLength: 5 }), lines, (pieces, tail) => {
        // Marks make each old text occur once.
        const old = pieces.map((piece, index) => `<${index}:${piece.old}>`);
        const content = pieces.map(({ between }, index) => between + old[index]).join("") + tail;
        const edits = pieces.map((piece, index) => ({ oldText: old[index] ?? "", newText: `[${piece.new}]` }));
        const expected = pieces.map(({ between, new: text }) => `${between}[${text}]`).join("") + tail;
        if (edits.length > 0) expect(apply(content, ...edits.toReversed())).toBe(expected);
      }),
      { numRuns: 2000 },
    );
  });

  it("C04 leaves all bytes outside the range as they are, valid or not, whatever the endings (property)", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.uint8Array({ maxLength: 40 }), (before, after) => {
        const content = Buffer.concat([before, Buffer.from("<the old text>"), after]);
        const text = apply(decodeLossless(content).text, { oldText: "<the old text>", newText: "new" });
        expect(Buffer.from(encodeLossless(text))).toEqual(Buffer.concat([before, Buffer.from("new"), after]));
      }),
      { numRuns: 2000 },
    );
  });

  it("C15 takes everything literally, however long", () => {
    expect(apply("price: $1 (a|b)*", { oldText: "$1 (a|b)*", newText: "$& $1 $$ \\n" })).toBe("price: $& $1 $$ \\n");
    const long = "x".repeat(1024 * 1024);
    expect(apply(`a${long}b`, { oldText: long, newText: "-" })).toBe("a-b");
    expect(apply("the whole\nfile\n", { oldText: "the whole\nfile\n", newText: "gone" })).toBe("gone");
  });

  it("C12 counts overlapping occurrences and names their lines", () => {
    expect(problems("aaa", { oldText: "aa", newText: "b" })).toEqual([{ kind: "several", edit: 0, count: 2, lines: [1, 1], exact: true }]);
    expect(problems("x\ny\nx\r\nx", { oldText: "x", newText: "z" })).toEqual([
      { kind: "several", edit: 0, count: 3, lines: [1, 3, 4], exact: true },
    ]);
    const many = problems("x\n".repeat(30), { oldText: "x", newText: "z" });
    expect(many).toMatchObject([{ count: 30, lines: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] }]);
  });

  it("C17 is not made ambiguous by a look-alike elsewhere", () => {
    expect(apply('say "hi"\nsay “hi”\n', { oldText: 'say "hi"', newText: "bye" })).toBe("bye\nsay “hi”\n");
  });

  it("C11 refuses an empty text, and a blank one that is not there exactly", () => {
    expect(problems("abc", { oldText: "", newText: "x" })).toEqual([{ kind: "empty", edit: 0 }]);
    expect(problems("abc", { oldText: " \n\u00a0", newText: "x" })).toEqual([{ kind: "blank", edit: 0 }]);
    expect(apply("a  b", { oldText: "  ", newText: " " })).toBe("a b");
    expect(problems("", { oldText: "", newText: "x" })).toEqual([{ kind: "empty", edit: 0 }]);
  });

  it("names the two edits that overlap, and lets neighbours touch", () => {
    expect(problems("one two three", { oldText: "one two", newText: "1" }, { oldText: "two three", newText: "2" })).toEqual([
      { kind: "overlap", edit: 0, other: 1, line: 1 },
    ]);
    expect(
      problems("abcdef", { oldText: "bc", newText: "1" }, { oldText: "abcde", newText: "2" }, { oldText: "ef", newText: "3" }),
    ).toEqual([
      { kind: "overlap", edit: 0, other: 1, line: 1 },
      { kind: "overlap", edit: 1, other: 2, line: 1 },
    ]);
    expect(apply("onetwo", { oldText: "one", newText: "1" }, { oldText: "two", newText: "2" })).toBe("12");
  });

  it("C13 says when nothing would change, but not for one idle edit among others", () => {
    expect(problems("abc", { oldText: "b", newText: "b" })).toEqual([{ kind: "no_change" }]);
    expect(apply("abc", { oldText: "a", newText: "a" }, { oldText: "c", newText: "d" })).toBe("abd");
  });

  it("reports every problem at once, in the order of the edits", () => {
    const found = problems(
      "alpha\nbeta\nbeta\n",
      { oldText: "", newText: "1" },
      { oldText: "alpha", newText: "2" },
      { oldText: "beta", newText: "3" },
      { oldText: "gamma delta", newText: "4" },
    );
    expect(found.map(({ kind }) => kind)).toEqual(["empty", "several", "not_found"]);
  });
});

describe("planEdits, line endings", () => {
  it("C03 matches line feeds in a CRLF file and writes CRLF", () => {
    const plan = planEdits("one\r\ntwo\r\nthree\r\n", [{ oldText: "one\ntwo\n", newText: "1\n2\n2b\n" }]);
    expect(plan).toMatchObject({ ok: true, text: "1\r\n2\r\n2b\r\nthree\r\n", replacements: [{ folds: ["line endings"] }] });
  });

  it("C04 gives each new line the ending of the line that it lands on", () => {
    const mixed = "a\r\nb\nc\rd\r\ne";
    expect(apply(mixed, { oldText: "a\nb\nc", newText: "1\n2\n3" })).toBe("1\r\n2\n3\rd\r\ne");
    expect(apply(mixed, { oldText: "c", newText: "c1\nc2" })).toBe("a\r\nb\nc1\rc2\rd\r\ne");
    expect(apply(mixed, { oldText: "e", newText: "e\nf" })).toBe("a\r\nb\nc\rd\r\ne\r\nf");
    expect(apply(mixed, { oldText: "b\n", newText: "b\nb2\n" })).toBe("a\r\nb\nb2\nc\rd\r\ne");
    expect(apply("no ending", { oldText: "no", newText: "no\r\nno\n" })).toBe("no\r\nno\n ending");
  });

  it("C02 keeps a missing final line feed, a lone one, a lone carriage return", () => {
    expect(apply("a\nb", { oldText: "b", newText: "c" })).toBe("a\nc");
    expect(apply("\n", { oldText: "\n", newText: "x\n" })).toBe("x\n");
    expect(apply("\r", { oldText: "\r", newText: "x\r" })).toBe("x\r");
  });

  it("changes endings when that is all an edit asks", () => {
    expect(apply("a\r\nb\r\n", { oldText: "a\r\nb\r\n", newText: "a\nb\n" })).toBe("a\nb\n");
    expect(problems("a\r\nb\r\n", { oldText: "a\nb", newText: "a\r\nb" })).toEqual([{ kind: "no_change" }]);
  });

  it("only the edited lines change (property)", () => {
    const row = fc.tuple(fc.string({ unit: fc.constantFrom("a", " ", "\t", "é"), maxLength: 4 }), ending);
    fc.assert(
      fc.property(fc.array(row, { maxLength: 6 }), ending, fc.array(row, { maxLength: 6 }), fc.nat(3), (before, own, after, extra) => {
        const text = (rows: readonly (readonly [string, string])[]): string => rows.map((parts) => parts.join("")).join("");
        const content = `${text(before)}<old>${own}${text(after)}`;
        const result = apply(content, { oldText: "<old>", newText: ["<new>", ...Array<string>(extra).fill("more")].join("\n") });
        // A carriage return before, or a line feed after, would make one CRLF of two endings.
        fc.pre(!(own === "\r" && text(after).startsWith("\n")));
        expect(result).toBe(`${text(before)}${["<new>", ...Array<string>(extra).fill("more")].join(own)}${own}${text(after)}`);
      }),
      { numRuns: 2000 },
    );
  });
});
