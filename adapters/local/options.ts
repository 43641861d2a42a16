import { resolve } from "node:path";
import type { TargetAddress } from "../../src/contract/target.js";
import { refusal } from "./errors.js";
import type { HardLinkPolicy } from "./write.js";

export interface LocalOptions {
  /** Sync file and directory before a write is acknowledged. Default true. False: it may be lost in a power cut, never torn. */
  readonly durable?: boolean;
  /** What a write does to a file that has other names. Default "refuse"; "break" cuts it loose, "inplace" is not atomic. */
  readonly hardLinks?: HardLinkPolicy;
  /** Lets file tools write git hooks, shell start-up files, settings of editors and agents. Default false. */
  readonly allowProtected?: boolean;
  /** "none" (default): commands run as you. "bwrap": they run in bubblewrap; refused where that is missing. */
  readonly isolation?: "none" | "bwrap";
  /** Added to the allow-listed variables of every command. */
  readonly env?: Readonly<Record<string, string>>;
  /** The largest file a command may write, in bytes. Default 1 GiB; Infinity lifts it. */
  readonly maxFileBytes?: number;
  /** How many files each process of a command may have open. Default 1,024. */
  readonly maxOpenFiles?: number;
  /** Larger files are read in slices only. Default 256 MiB. */
  readonly maxReadBytes?: number;
}

/** The options with their defaults. */
export type LocalSettings = Required<LocalOptions> & {
  /** The absolute path of the root, as it was given. */
  readonly path: string;
  readonly label: string;
};

const MIB = 1024 * 1024;

/** Throws `invalid_argument` for values that mean nothing. `path` is taken relative to the process's working directory. */
export function settingsOf(path: string, options: LocalOptions): LocalSettings {
  if (path === "") throw wrong('A local target needs a directory. Say "." for the current one.');
  const settings = {
    path: resolve(path),
    label: `local:${path}`,
    durable: options.durable ?? true,
    hardLinks: options.hardLinks ?? "refuse",
    allowProtected: options.allowProtected ?? false,
    isolation: options.isolation ?? "none",
    env: { ...options.env },
    maxFileBytes: options.maxFileBytes ?? 1024 * MIB,
    maxOpenFiles: options.maxOpenFiles ?? 1024,
    maxReadBytes: options.maxReadBytes ?? 256 * MIB,
  };
  oneOf("hardLinks", settings.hardLinks, ["refuse", "break", "inplace"]);
  oneOf("isolation", settings.isolation, ["none", "bwrap"]);
  if (settings.maxFileBytes !== Number.POSITIVE_INFINITY) atLeastOne("maxFileBytes", settings.maxFileBytes);
  atLeastOne("maxOpenFiles", settings.maxOpenFiles);
  atLeastOne("maxReadBytes", settings.maxReadBytes);
  return settings;
}

/** The path and options of `local:PATH?hardLinks=break`. Throws `invalid_argument` for what it does not know. */
export function optionsOf({ authority, path, options, text }: TargetAddress): { readonly path: string; readonly options: LocalOptions } {
  if (authority !== "")
    throw wrong(`${text} names a host, and a local target has none. Write local:PATH, as in local:. or local:/srv/app.`);
  const read: Record<string, unknown> = {};
  for (const [name, value] of options) {
    const reader = READERS[name];
    if (reader === undefined)
      throw wrong(
        `${text} has the option ${JSON.stringify(name)}, which local targets do not know. They know ${Object.keys(READERS).join(", ")}.`,
      );
    read[name] = reader(value, name);
  }
  return { path, options: read as LocalOptions };
}

const READERS: Readonly<Record<string, (value: string, name: string) => unknown>> = {
  durable: flag,
  hardLinks: (value) => value,
  isolation: (value) => value,
  allowProtected: flag,
  maxFileBytes: count,
  maxOpenFiles: count,
  maxReadBytes: count,
};

function flag(value: string, name: string): boolean {
  if (value === "1" || value === "true") return true;
  if (value === "0" || value === "false") return false;
  throw wrong(`${name} must be 1 or 0, not ${JSON.stringify(value)}.`);
}

function count(value: string, name: string): number {
  if (!/^\d+$/.test(value)) throw wrong(`${name} must be a whole number, not ${JSON.stringify(value)}.`);
  return Number(value);
}

function oneOf(name: string, value: string, known: readonly string[]): void {
  if (!known.includes(value)) throw wrong(`${name} must be one of ${known.join(", ")}, not ${JSON.stringify(value)}.`);
}

function atLeastOne(name: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 1) throw wrong(`${name} must be a whole number, 1 or more; it is ${String(value)}.`);
}

function wrong(message: string): Error {
  return refusal("invalid_argument", message);
}
