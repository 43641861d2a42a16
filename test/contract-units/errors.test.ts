import { describe, expect, it } from "vitest";
import { abortError, ERROR_CODES, GloveboxError } from "../../src/contract/errors.js";

describe("GloveboxError", () => {
  it("is as JSON what it carries, without the cause", () => {
    const error = new GloveboxError("not_found", "There is no a.txt.", {
      retrySafe: true,
      target: "memory:",
      verb: "readFile",
      path: "/a.txt",
      details: { nearest: "b.txt" },
      cause: new Error("ENOENT with a secret"),
    });
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      code: "not_found",
      message: "There is no a.txt.",
      retrySafe: true,
      target: "memory:",
      verb: "readFile",
      path: "/a.txt",
      details: { nearest: "b.txt" },
    });
  });

  it("is not safe to retry unless it says so, and has no details then", () => {
    expect(new GloveboxError("unexpected", "Something broke.")).toMatchObject({ retrySafe: false, details: {} });
  });

  it("fills in facts that are missing and keeps those it has", () => {
    const cause = new Error("reset");
    const error = new GloveboxError("disconnected", "The link broke.", { path: "/known", details: { attempt: 1 } });
    const filled = error.with({ target: "ssh://box", path: "/other", details: { attempt: 9, bytes: 3 }, cause, retrySafe: true });
    expect(filled).toMatchObject({
      code: "disconnected",
      message: "The link broke.",
      target: "ssh://box",
      path: "/known",
      details: { attempt: 1, bytes: 3 },
      cause,
      retrySafe: false,
    });
    expect(filled.stack).toBe(error.stack);
  });

  it("has no code twice", () => {
    expect(new Set(ERROR_CODES).size).toBe(ERROR_CODES.length);
  });
});

describe("abortError", () => {
  const reasonFor = (reason?: unknown) => abortError(AbortSignal.abort(reason), { verb: "exec" });

  it("tells a timeout from an abort by the signal's reason", () => {
    expect(reasonFor().code).toBe("aborted");
    expect(reasonFor("because").code).toBe("aborted");
    expect(reasonFor(new DOMException("late", "TimeoutError")).code).toBe("timeout");
    expect(reasonFor(new GloveboxError("timeout", "10 s were allowed."))).toMatchObject({
      code: "timeout",
      message: "10 s were allowed.",
      verb: "exec",
    });
  });
});
