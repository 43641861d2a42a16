import type { ErrorCode } from "../../src/contract/errors.js";
import { GloveboxError } from "../../src/contract/errors.js";
import type { Connection, ConnectOptions, Layer, Target, VerbCall } from "../../src/contract/target.js";
import { intercept } from "../../src/layers/intercept.js";

/** A layer that lets each call through unless its turn in `outcomes` says otherwise; `calls` is what came by. */
export function scripted(outcomes: readonly (GloveboxError | undefined)[] = []): { readonly layer: Layer; readonly calls: VerbCall[] } {
  const calls: VerbCall[] = [];
  const layer = intercept(async (call, next) => {
    const outcome = outcomes[calls.length];
    calls.push(call);
    if (outcome !== undefined) throw outcome;
    return await next();
  });
  return { layer, calls };
}

export function failure(code: ErrorCode, retrySafe = true): GloveboxError {
  return new GloveboxError(code, `Made to fail with ${code}.`, { retrySafe });
}

/** The same target, its connections changed. */
export function changed<Extras extends object>(
  target: Target<Extras>,
  change: (connection: Connection<Extras>, options: ConnectOptions) => Partial<Connection<Extras>>,
): Target<Extras> {
  return {
    ...target,
    async connect(options) {
      const connection = await target.connect(options);
      return { ...connection, ...change(connection, options) };
    },
  };
}
