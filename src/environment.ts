import { createEmitter } from "./contract/emitter.js";
import { abortError, GloveboxError } from "./contract/errors.js";
import type { GloveboxEvent } from "./contract/events.js";
import type { Connection, Environment, Layer, Target } from "./contract/target.js";
import { complete } from "./layers/complete.js";
import { confine } from "./layers/confine.js";
import { toGloveboxError } from "./layers/foreign-error.js";
import { intercept } from "./layers/intercept.js";
import { normalize } from "./layers/normalize.js";

export interface OpenOptions {
  /** Layers of the caller's, the outermost first, above the ones that are always on. */
  readonly layers?: readonly Layer[];
  /** Aborts the connecting. Once the environment is open it has no say. */
  readonly signal?: AbortSignal;
  /** Subscribed before connecting, so that it hears what happens then. */
  readonly onEvent?: (event: GloveboxEvent) => void;
}

/**
 * Connects to a target and gives its environment all eight verbs: the adapter's own, the portable ones for what it left
 * out, and the layers. What the adapter adds (memory's `calls`, docker's `containerId`) shows through.
 * Rejects with what the adapter's connecting rejects with; nothing stays behind then. Close it, or `await using` it.
 */
export async function openEnvironment<Extras extends object = object>(
  target: Target<Extras>,
  options: OpenOptions = {},
): Promise<Environment & Extras> {
  const { layers = [], signal, onEvent } = options;
  const { emit, onEvent: subscribe } = createEmitter();
  if (onEvent !== undefined) subscribe(onEvent);
  const facts = { target: target.label, verb: "connect" };
  let connection: Connection<Extras> | undefined;
  try {
    if (signal?.aborted) throw abortError(signal, { retrySafe: true });
    connection = await target.connect({ signal, onEvent: emit });
    if (signal?.aborted) throw abortError(signal, { retrySafe: true });
    const environment = layers.reduceRight((inner, layer) => layer(inner), alwaysOn(connection, target, { emit, onEvent: subscribe }));
    emit({ type: "target_connected", target: target.label });
    return environment as Environment & Extras;
  } catch (error) {
    await connection?.close().catch(() => undefined);
    throw toGloveboxError(error, facts, signal);
  }
}

function alwaysOn(connection: Connection, target: Target, events: Pick<Environment, "emit" | "onEvent">): Environment {
  const { id, cwd, root, home, spoolDirectory, capabilities } = connection;
  const { kind, label } = target;
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= (async () => {
      try {
        await connection.close();
      } catch (error) {
        throw toGloveboxError(error, { target: label, verb: "close" });
      } finally {
        events.emit({ type: "target_closed", target: label });
      }
    })();
    return closing;
  };
  const open = intercept(async (_call, next) => {
    if (closing === undefined) return await next();
    throw new GloveboxError("gone", `The environment ${label} is closed. Open a new one to go on.`, { retrySafe: true });
  });
  const environment: Environment = {
    kind,
    label,
    id,
    cwd,
    ...(root === undefined ? {} : { root }),
    ...(home === undefined ? {} : { home }),
    spoolDirectory,
    capabilities,
    ...complete(connection, label),
    ...events,
    mutationKey: (path) => `${id}:${path}`,
    describe: () => connection.describe(),
    close,
    [Symbol.asyncDispose]: close,
  };
  if (connection.extras !== undefined) addExtras(environment, connection.extras);
  // "boundary" says that the adapter checks no path by itself; a root narrower than the target needs the guard rail then.
  const unguarded = root !== undefined && root !== "/" && capabilities.confinement === "boundary";
  return normalize(open(unguarded ? confine(root)(environment) : environment));
}

/** Getters stay getters. A name that the environment has already would make a verb lie: that is the adapter's defect. */
function addExtras(environment: Environment, extras: object): void {
  for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(extras))) {
    if (name in environment) {
      throw new GloveboxError(
        "unexpected",
        `The adapter adds ${JSON.stringify(name)}, which every environment has already. Rename it there.`,
      );
    }
    Object.defineProperty(environment, name, descriptor);
  }
}
