import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileValidator, stringEnum, Type } from "../../src/contract/schema.js";

const closed = { additionalProperties: false };
const edit = Type.Object(
  {
    path: Type.String({ minLength: 1, maxLength: 4096 }),
    edits: Type.Array(Type.Object({ oldText: Type.String(), newText: Type.String() }, closed), { minItems: 1 }),
    limit: Type.Optional(Type.Integer({ minimum: 1 })),
    all: Type.Optional(Type.Boolean()),
    mode: Type.Optional(stringEnum(["fast", "exact"], { description: "How" })),
  },
  closed,
);
const validate = compileValidator(edit);
const good = { path: "a", edits: [{ oldText: "x", newText: "y" }] };
const issuesOf = (value: unknown, validator = validate as (value: unknown) => ReturnType<typeof validate>) => {
  const validation = validator(value);
  return validation.ok ? [] : validation.issues.map(({ field, expected, received }) => `${field}: ${expected}; ${received}`);
};

describe("compileValidator", () => {
  it("answers with a copy that shares nothing with what it was given", () => {
    const given = structuredClone(good);
    const validation = validate(given);
    given.edits[0] = { oldText: "changed", newText: "later" };
    expect(validation).toEqual({ ok: true, value: good });
  });

  it("J01 lists every field with what was expected and what came", () => {
    expect(
      issuesOf({ edits: [{ oldText: 1 }, { oldText: "x", newText: "y", extra: true }], limit: 0.5, all: "yes", mode: "slow", more: null }),
    ).toEqual([
      'mode: one of "fast", "exact"; "slow"',
      "path: a string of 1 or more characters and of at most 4096 characters; nothing",
      "more: no such field; null",
      "edits[0].newText: a string; nothing",
      "edits[0].oldText: a string; 1",
      "edits[1].extra: no such field; true",
      "limit: an integer >= 1; 0.5",
      'all: a boolean; "yes"',
    ]);
  });

  it.each([
    [7, "7"],
    [["a"], "an array of 1"],
    [{}, "an object"],
    [null, "null"],
    [true, "true"],
  ])("J01 refuses %j as a path", (path, received) => {
    expect(issuesOf({ ...good, path })).toEqual([`path: a string of 1 or more characters and of at most 4096 characters; ${received}`]);
  });

  it.each([undefined, null, 3, "text", [], [good]])("refuses %j as the whole", (value) => {
    expect(issuesOf(value)).toEqual([expect.stringMatching(/^: an object; /)]);
  });

  it("drops fields that are undefined, as JSON would", () => {
    expect(validate({ ...good, limit: undefined, stray: undefined })).toEqual({ ok: true, value: good });
  });

  it("stops at fifty issues and shows little of each", () => {
    const stray = Object.fromEntries(Array.from({ length: 80 }, (_, index) => [`key${index}`, "v".repeat(10_000)]));
    const issues = issuesOf({ ...good, ...stray });
    expect(issues).toHaveLength(50);
    expect(issues[0]).toBe(`key0: no such field; "${"v".repeat(60)}…", 10000 characters`);
    expect(issuesOf({ ...good, [`a"${"k".repeat(9_000)}`]: 1 })[0]).toBe(`["a\\"${"k".repeat(58)}…"]: no such field; 1`);
  });

  it("never cuts a character in two", () => {
    expect(issuesOf({ ...good, all: `${"v".repeat(59)}\u{1f600}tail` })).toEqual([`all: a boolean; "${"v".repeat(59)}…", 65 characters`]);
  });
});

describe("coercion", () => {
  const number = compileValidator(Type.Object({ n: Type.Number() }, closed));
  const coerced = (n: unknown) => {
    const validation = number({ n });
    return validation.ok ? validation.value.n : undefined;
  };

  it.each([
    ["7", 7],
    ["-7", -7],
    ["0", 0],
    ["1.50", 1.5],
    ["7.0", 7],
    ["0.1", 0.1],
    ["9007199254740991", Number.MAX_SAFE_INTEGER],
  ])("takes %j for %d", (text, value) => expect(coerced(text)).toBe(value));

  it.each([
    "",
    " 7",
    "7 ",
    "+7",
    "007",
    "1e3",
    "0x10",
    "Infinity",
    "NaN",
    "-0",
    "9007199254740993",
    "1234567890123456.789",
    "7.",
    ".5",
    "1,5",
    "٧",
  ])("does not take %j for a number", (text) => expect(coerced(text)).toBeUndefined());

  it("loses nothing: what is taken prints as it came, but for trailing zeros", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^-?\d{1,20}(\.\d{1,18})?$/), (text) => {
        const value = coerced(text);
        if (value === undefined) return;
        expect(String(value)).toBe(text.includes(".") ? text.replace(/\.?0+$/, "") : text);
      }),
    );
  });

  it("takes true and false, and nothing else, for a boolean", () => {
    expect(validate({ ...good, all: "true" })).toEqual({ ok: true, value: { ...good, all: true } });
    expect(validate({ ...good, all: "false" })).toEqual({ ok: true, value: { ...good, all: false } });
    for (const all of ["True", "1", "yes", "", 1, 0]) expect(issuesOf({ ...good, all })).toHaveLength(1);
  });

  it("does not take a number or a boolean for a string", () => {
    expect(issuesOf({ path: 7, edits: [{ oldText: true, newText: "" }] })).toHaveLength(2);
  });

  it("works inside arrays and objects", () => {
    const nested = compileValidator(Type.Object({ list: Type.Array(Type.Object({ n: Type.Integer() })) }));
    expect(nested({ list: [{ n: "1" }, { n: 2 }] })).toEqual({ ok: true, value: { list: [{ n: 1 }, { n: 2 }] } });
  });

  it("leaves numbers that no JSON can say out", () => {
    for (const limit of [Number.NaN, Number.POSITIVE_INFINITY])
      expect(issuesOf({ ...good, limit })).toEqual([`limit: a finite number; ${limit}`]);
    expect(issuesOf({ ...good, limit: 1n })).toEqual(["limit: a JSON value; a bigint"]);
    expect(issuesOf({ ...good, limit: () => 1 })).toEqual(["limit: a JSON value; a function"]);
  });
});

describe("hostile values", () => {
  const open = compileValidator(Type.Object({ path: Type.String(), anything: Type.Optional(Type.Unknown()) }));

  it.each(['{"__proto__":{"x":1},"path":"a"}', '{"path":"a","anything":{"deep":[{"__proto__":{"x":1}}]}}'])("J02 refuses %s", (json) => {
    expect(issuesOf(JSON.parse(json), open as never)).toEqual([expect.stringMatching(/__proto__: no such field; an object$/)]);
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });

  it("J02 keeps constructor and prototype mere keys", () => {
    const validation = open(JSON.parse('{"path":"a","anything":{"constructor":{"prototype":{"x":1}}}}'));
    expect(validation.ok).toBe(true);
    expect(({} as Record<string, unknown>).x).toBeUndefined();
    expect(
      issuesOf(JSON.parse('{"constructor":{"prototype":{"x":1}},"toString":1,"path":"a","edits":[{"oldText":"","newText":""}]}')),
    ).toEqual(["constructor: no such field; an object", "toString: no such field; 1"]);
  });

  it("J04 refuses 10,000 levels, wherever they are, and lives", () => {
    const deep = JSON.parse(`${"[".repeat(10_000)}${"]".repeat(10_000)}`) as unknown;
    const deepObject = JSON.parse(`${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`) as unknown;
    expect(issuesOf(deep)).toEqual([": no more than 64 levels of nesting; more"]);
    expect(issuesOf({ ...good, path: deep })).toEqual(["path: no more than 64 levels of nesting; more"]);
    expect(issuesOf({ path: "a", anything: deepObject }, open as never)).toEqual(["anything: no more than 64 levels of nesting; more"]);
  });

  it("refuses a circle, however wide", () => {
    const circle: Record<string, unknown> = { path: "a" };
    circle.anything = [circle, circle];
    expect(issuesOf(circle, open as never)).toEqual(["anything: no more than 64 levels of nesting; more"]);
  });

  it("J04 refuses a million keys or items without listing them", () => {
    const keys = Object.fromEntries(Array.from({ length: 1_000_000 }, (_, index) => [`k${index}`, 1]));
    expect(issuesOf(keys)).toEqual([": no more than 100000 values; more"]);
    expect(issuesOf({ ...good, edits: new Array(1_000_000).fill(0) })).toEqual([": no more than 100000 values; more"]);
  });

  it("J04 refuses 9 MiB where a path belongs, and shows sixty characters of it", () => {
    expect(issuesOf({ ...good, path: "p".repeat(9 * 1024 * 1024) })).toEqual([
      `path: a string of 1 or more characters and of at most 4096 characters; "${"p".repeat(60)}…", 9437184 characters`,
    ]);
  });

  it("refuses half of a surrogate pair, lets whole ones and NUL through", () => {
    expect(issuesOf({ ...good, path: "a\ud83d" })).toEqual(["path: text of whole characters; half of a surrogate pair at character 2"]);
    expect(issuesOf({ path: "a", edits: [{ oldText: "\ude00", newText: "\u{1f600}\0" }] })).toEqual([
      "edits[0].oldText: text of whole characters; half of a surrogate pair at character 1",
    ]);
  });

  it("answers whatever JSON it is given, with a value that the schema takes or with issues", () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.record({ path: fc.jsonValue(), edits: fc.jsonValue(), limit: fc.jsonValue() })), (value) => {
        const before = JSON.stringify(value);
        const validation = validate(value);
        expect(JSON.stringify(value)).toBe(before);
        if (validation.ok) expect(validate(validation.value)).toEqual(validation);
        else expect(validation.issues.length).toBeGreaterThan(0);
      }),
    );
  });
});

describe("stringEnum", () => {
  it("is a schema that every provider takes, and is enforced", () => {
    expect(JSON.parse(JSON.stringify(stringEnum(["a", "b"], { description: "Which" })))).toEqual({
      description: "Which",
      enum: ["a", "b"],
      type: "string",
    });
    const mode: "fast" | "exact" | undefined = (() => {
      const validation = validate({ ...good, mode: "fast" });
      return validation.ok ? validation.value.mode : undefined;
    })();
    expect(mode).toBe("fast");
    expect(issuesOf({ ...good, mode: 1 })).toEqual(['mode: one of "fast", "exact"; 1']);
  });
});
