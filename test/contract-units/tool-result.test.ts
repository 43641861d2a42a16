import { describe, expect, it } from "vitest";
import { GloveboxError } from "../../src/contract/errors.js";
import { errorResult, textResult } from "../../src/contract/tool-result.js";

describe("errorResult", () => {
  it("is the message as text and the error as data, without what it does not have", () => {
    expect(errorResult(new GloveboxError("not_found", "No a.", { path: "a", retrySafe: true, cause: new Error("secret") }))).toEqual({
      content: [{ type: "text", text: "No a." }],
      details: { error: { code: "not_found", message: "No a.", retrySafe: true, path: "a" } },
      isError: true,
    });
    const full = new GloveboxError("conflict", "Changed.", { target: "memory:", verb: "writeFile", details: { actualSha256: null } });
    expect(errorResult(full).details).toEqual({
      error: {
        code: "conflict",
        message: "Changed.",
        retrySafe: false,
        target: "memory:",
        verb: "writeFile",
        details: { actualSha256: null },
      },
    });
  });

  it("keeps what was there already, in front", () => {
    const result = errorResult(new GloveboxError("aborted", "Aborted."), {
      content: [{ type: "text", text: "so far" }],
      details: { bytes: 6 },
    });
    expect(result.content).toEqual([
      { type: "text", text: "so far" },
      { type: "text", text: "Aborted." },
    ]);
    expect(result.details).toMatchObject({ bytes: 6, error: { code: "aborted" } });
  });

  it("makes a foreign error an unexpected one", () => {
    const text = "Something failed that should not have: boom. Try once more, and report it if it comes again.";
    expect(errorResult(new TypeError("boom"))).toMatchObject({ content: [{ text }], details: { error: { code: "unexpected" } } });
    expect(errorResult("boom")).toMatchObject({ content: [{ text }] });
    expect(errorResult(new Error("")).content).toEqual([
      { type: "text", text: "Something failed that should not have: no reason given. Try once more, and report it if it comes again." },
    ]);
  });
});

describe("textResult", () => {
  it("is one text, with details where there are some", () => {
    expect(textResult("x")).toEqual({ content: [{ type: "text", text: "x" }], isError: false });
    expect(textResult("x", { a: 1 }, true)).toEqual({ content: [{ type: "text", text: "x" }], details: { a: 1 }, isError: true });
  });
});
