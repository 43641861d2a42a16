import { GloveboxError } from "../contract/errors.js";
import type { Entry } from "../contract/operations.js";
import type { Environment, Layer } from "../contract/target.js";
import { lexicalPath } from "../contract/tool.js";
import { intercept } from "./intercept.js";

/**
 * A guard rail around `root` (absolute and canonical) for a target that checks no path by itself: before a file or search
 * verb runs, the target is asked where its path leads, which costs a second round trip. Between the two a symlink can be
 * swapped: a target that must hold against an attacker confines by itself. What a command does is not bound by it.
 */
export function confine(root: string): Layer {
  return (inner) => {
    const inside = (path: string): boolean => isWithin(root, path) || isWithin(inner.spoolDirectory, path);
    const check = (path: string, canonicalPath: string): void => {
      if (inside(canonicalPath)) return;
      throw new GloveboxError(
        "outside_root",
        `${JSON.stringify(path)} leads outside ${root}, and only what is in there can be used. Name a path inside it.`,
        { retrySafe: true, path },
      );
    };
    const guarded = intercept(async ({ verb, path, signal }, next) => {
      if (verb === "exec" || path === undefined) return await next();
      check(path, await inner.realpath(path, { signal }));
      const result = await next();
      // A read that was led astray after the check is not handed on.
      if (verb !== "writeFile") check(path, canonicalPathOf(result) ?? root);
      return result;
    })(inner);
    const narrowed: Pick<Environment, "root" | "capabilities" | "readdir"> = {
      root,
      capabilities: { ...inner.capabilities, confinement: "checked" },
      readdir: async (path, options) => {
        const directory = await inner.realpath(path, options);
        check(path, directory);
        return (await inner.readdir(path, options)).map((entry) => withoutOutsideKind(entry, directory, inside));
      },
    };
    return Object.assign(Object.create(guarded) as Environment, narrowed);
  };
}

function isWithin(root: string, path: string): boolean {
  return path === root || path.startsWith(root === "/" ? root : `${root}/`);
}

function canonicalPathOf(result: unknown): string | undefined {
  if (typeof result === "string") return result;
  return typeof result === "object" && result !== null && "canonicalPath" in result ? String(result.canonicalPath) : undefined;
}

function withoutOutsideKind(entry: Entry, directory: string, inside: (path: string) => boolean): Entry {
  const { linkKind, ...rest } = entry;
  if (linkKind === undefined || entry.linkTarget === undefined || inside(lexicalPath(directory, entry.linkTarget))) return entry;
  return rest;
}
