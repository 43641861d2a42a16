import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pathRepairs } from "../../src/tools/path-repairs.js";

describe("pathRepairs", () => {
  it("is what a model may have meant, likeliest first", () => {
    expect(pathRepairs("src/a.ts", "/home/me")).toEqual([]);
    expect(pathRepairs("@src/a.ts")).toEqual(["src/a.ts"]);
    expect(pathRepairs("@@a")).toEqual(["@a"]);
    expect(pathRepairs("~/a", "/home/me")).toEqual(["/home/me/a"]);
    expect(pathRepairs("~", "/home/me")).toEqual(["/home/me"]);
    expect(pathRepairs("~/a")).toEqual([]);
    expect(pathRepairs("~root/a", "/home/me")).toEqual([]);
    expect(pathRepairs("file:///a")).toEqual(["/a"]);
    expect(pathRepairs("http://a")).toEqual([]);
    expect(pathRepairs("a\u00a0b\u3000c")).toEqual(["a b c"]);
    expect(pathRepairs("@file://~/a\u202fb", "/home/me")).toEqual([
      "file://~/a\u202fb",
      "~/a\u202fb",
      "/home/me/a\u202fb",
      "@file://~/a b",
      "file://~/a b",
      "~/a b",
      "/home/me/a b",
    ]);
  });

  it("is never the name itself, never empty, never twice the same, few (property)", () => {
    const path = fc.string({ unit: fc.constantFrom("@", "~", "/", "a", "\u00a0", " ", "file://", ".") });
    fc.assert(
      fc.property(path, fc.constantFrom(undefined, "/", "/home/me"), (given, home) => {
        const repairs = pathRepairs(given, home);
        expect(repairs).not.toContain(given);
        expect(repairs).not.toContain("");
        expect(new Set(repairs).size).toBe(repairs.length);
        expect(repairs.length).toBeLessThan(16);
      }),
      { numRuns: 1000 },
    );
  });
});
