import type { Adapter, Target } from "../../src/contract/target.js";
import { connectLocal } from "./connection.js";
import { type LocalOptions, optionsOf, settingsOf } from "./options.js";

export type { LocalOptions } from "./options.js";
export type { HardLinkPolicy } from "./write.js";

/**
 * This machine, from `path` down. File verbs stay inside that directory; commands start in it and are not isolated: they
 * run as you. Throws `invalid_argument`; connecting rejects `not_found`, `not_directory`, `unsupported`.
 */
export function local(path: string, options: LocalOptions = {}): Target {
  const settings = settingsOf(path, options);
  return { kind: "local", label: settings.label, connect: (connectOptions) => connectLocal(settings, connectOptions) };
}

/** `local:PATH`, with `durable`, `hardLinks`, `isolation`, `allowProtected`, `maxFileBytes`, `maxOpenFiles`, `maxReadBytes` as query parameters. */
export const adapter: Adapter = (address) => {
  const { path, options } = optionsOf(address);
  return local(path, options);
};
