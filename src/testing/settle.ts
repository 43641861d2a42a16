import assert from "node:assert/strict";
import type { ErrorCode, GloveboxError } from "../contract/errors.js";

/** How long anything may take before it counts as hanging: a liveness deadline, not a speed. */
export const PATIENCE_MS = 20_000;

/** The promise's own outcome, or a failure when it has not settled after `ms`. */
export async function within<Result>(ms: number, what: string, promise: Promise<Result>): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new assert.AssertionError({ message: `${what} did not settle within ${ms} ms` })), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The GloveboxError that `promise` rejects with; fails when it resolves, hangs, or the code is not one of `codes`. */
export async function rejection(promise: Promise<unknown>, codes: readonly ErrorCode[]): Promise<GloveboxError> {
  const wanted = codes.join(" or ");
  const outcome = await within(
    PATIENCE_MS,
    `A call that should reject ${wanted}`,
    promise.then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    ),
  );
  assert.ok("error" in outcome, `expected a rejection with ${wanted}, but it resolved`);
  const { error } = outcome;
  assert.ok(isGloveboxError(error), `expected a GloveboxError with ${wanted}, but got ${String(error)}`);
  assert.ok(codes.includes(error.code), `expected ${wanted}, but got ${error.code}: ${error.message}`);
  return error;
}

/** By name and code, so that an error of another copy of this package counts too. */
export function isGloveboxError(error: unknown): error is GloveboxError {
  return error instanceof Error && error.name === "GloveboxError" && "code" in error;
}

/** Asks again and again until `holds`, which must come true within `ms`. */
export async function eventually(what: string, holds: () => Promise<boolean>, ms = PATIENCE_MS): Promise<void> {
  const started = performance.now();
  while (!(await holds())) {
    assert.ok(performance.now() - started < ms, `${what}: still not so after ${ms} ms`);
    await sleep(50);
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
