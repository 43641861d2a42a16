import { basename, dirname } from "node:path/posix";
import { GloveboxError } from "../contract/errors.js";
import type { Entry } from "../contract/operations.js";
import { quoteName } from "../text/escape.js";
import { formatList, formatNumber } from "../text/format.js";
import { nearestNames } from "../text/nearest-names.js";
import { compareNames } from "../text/order.js";
import type { PathContext } from "./paths.js";

/** How far up a directory that exists is looked for, all in one trip. */
const MAX_ANCESTORS = 32;
/** How many entries of a directory are named. */
const MAX_NAMED = 10;

/**
 * The error for a path that does not exist: it names the nearest names beside it (or beside its repairs), or the first entries
 * of the nearest directory that does exist. Two trips at most; what cannot be found out is left out.
 */
export async function missingPathError(
  error: GloveboxError,
  path: string,
  repairs: readonly string[],
  context: PathContext,
): Promise<GloveboxError> {
  const tried = repairs.length === 0 ? "" : ` (nor does ${formatList(repairs.map((name) => quoteName(name)))})`;
  const what = `${quoteName(path)} does not exist${tried}.`;
  const hint = (await hintFor(path, repairs, context)) ?? "Check the name, or look for it with ls or find.";
  const { code, target, verb, details } = error;
  return new GloveboxError(code, `${what} ${hint}`, { retrySafe: true, target, verb, path, details, cause: error });
}

async function hintFor(path: string, repairs: readonly string[], context: PathContext): Promise<string | undefined> {
  const ancestors = ancestorsOf(path);
  const names = [path, ...repairs];
  const [kinds, listings] = await Promise.all([
    Promise.all(ancestors.map((each) => kindOf(each, context))),
    Promise.all(names.map((name) => list(dirname(name), context))),
  ]);
  const link = listings[0]?.find(({ name, linkTarget }) => name === basename(path) && linkTarget !== undefined);
  if (link !== undefined)
    return `It is a symbolic link to ${quoteName(link.linkTarget ?? "")}, and nothing is there. Make that, or replace the link with bash.`;
  for (const [index, name] of names.entries()) {
    const near = nearestIn(listings[index] ?? [], basename(name));
    if (near.length > 0) return suggest(dirname(name), near);
  }
  if (listings[0] !== undefined) return describe(dirname(path), listings[0]);

  const index = kinds.findIndex((kind) => kind !== undefined);
  const nearest = ancestors[index];
  if (nearest === undefined) return undefined;
  if (kinds[index] !== "directory") return `${quoteName(nearest)} is not a directory, so nothing can be in it. Check the name with ls.`;
  const entries = await list(nearest, context);
  if (entries === undefined) return undefined;
  const near = nearestIn(entries, basename(ancestors[index - 1] ?? path));
  const either = `There is no directory ${quoteName(dirname(path))} either.`;
  return `${either} ${near.length === 0 ? describe(nearest, entries) : suggest(nearest, near)}`;
}

function nearestIn(entries: readonly Entry[], wanted: string): readonly string[] {
  return nearestNames(
    wanted,
    entries.map(({ name }) => name),
  );
}

function suggest(directory: string, near: readonly string[]): string {
  const which = near.length === 1 ? "Use that if you meant it" : "Use one of them if you meant it";
  return `${placeName(directory)} has ${formatList(near.map((each) => quoteName(each)))}. ${which}, or look with ls.`;
}

function describe(directory: string, entries: readonly Entry[]): string {
  const place = placeName(directory);
  if (entries.length === 0) return `${place} is empty. Check the name, or make the file with write.`;
  const first = entries.slice(0, MAX_NAMED).map(({ name, kind, linkKind }) => {
    const isDirectory = kind === "directory" || linkKind === "directory";
    return quoteName(name) + (isDirectory ? "/" : "");
  });
  const more = entries.length > MAX_NAMED ? ` and ${formatNumber(entries.length - MAX_NAMED)} more` : "";
  return `${place} has ${more === "" ? formatList(first) : first.join(", ") + more}. Check the name, or look with ls.`;
}

function placeName(directory: string): string {
  return directory === "." ? "The working directory" : quoteName(directory);
}

/** Entries in order of name; undefined when they cannot be had. */
async function list(directory: string, { operations, signal }: PathContext): Promise<readonly Entry[] | undefined> {
  try {
    const entries = await operations.readdir?.(directory, { signal });
    return entries?.toSorted((one, other) => compareNames(one.name, other.name));
  } catch {
    return undefined;
  }
}

async function kindOf(path: string, { operations, signal }: PathContext): Promise<string | undefined> {
  try {
    return (await operations.stat?.(path, { signal }))?.kind;
  } catch {
    return undefined;
  }
}

/** The directories above `path`, nearest first. */
function ancestorsOf(path: string): readonly string[] {
  const ancestors: string[] = [];
  for (let each = dirname(path); ancestors.length < MAX_ANCESTORS; each = dirname(each)) {
    ancestors.push(each);
    if (each === dirname(each)) break;
  }
  return ancestors;
}
