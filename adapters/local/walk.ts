import { readlinkSync, type Stats, statSync } from "node:fs";
import { errnoOf } from "./errors.js";
import {
  checkLength,
  endsInSlash,
  type Located,
  MAX_LINKS,
  nothingThere,
  outsideRoot,
  partsOf,
  refusePseudoFilesystem,
  tooManyLinks,
  type Walker,
  withoutAlias,
} from "./located.js";
import type { Opener, Reached } from "./opener.js";

interface Step {
  readonly name: string;
  readonly fromLink: boolean;
}

/**
 * Confinement: every component is reached from the one before by its bare name, no symlink is ever followed by the kernel,
 * and links are read and resolved here, inside the root. With the descriptor opener a symlink-swapping attacker gains
 * nothing. `root` is canonical; `alias` is another absolute name of it.
 */
export function openWalker(root: string, alias: string, opener: Opener): Walker {
  const rootParts = partsOf(root);

  function locate(path: string, { lexical = false } = {}): Located {
    checkLength(path);
    const start = opener.root();
    const todo: Step[] = [];
    let directory: Reached = start;
    let position: string[] = [];
    let missing: string[] = [];
    let dangling = false;
    let mustBeDirectory = endsInSlash(path);
    let links = 0;
    let object: Reached | undefined;

    const inside = (): boolean => position.length >= rootParts.length;
    const stepTo = (next: Reached): void => {
      if (directory !== start) directory.close();
      directory = next;
    };
    const close = (): void => {
      object?.close();
      stepTo(start);
      start.close();
    };
    const plan = (target: string, fromLink: boolean): void => {
      const named = withoutAlias(target, alias, root);
      if (named.startsWith("/")) {
        stepTo(start);
        position = [];
      }
      for (const name of partsOf(named).reverse()) todo.push({ name, fromLink });
    };
    const refuseForeign = (stats: Stats, reached: string): void => {
      if (stats.dev !== start.stats.dev) refusePseudoFilesystem(reached, path);
    };
    const follow = (step: Step, link: Stats): void => {
      // A magic link of /proc leads anywhere, whatever it reads as.
      refuseForeign(link, directory.path);
      links += 1;
      if (links > MAX_LINKS) throw tooManyLinks(path);
      const target = readLinkIfStillOne(`${directory.path}/${step.name}`);
      if (target === undefined) {
        todo.push(step);
        return;
      }
      if (todo.length === 0 && endsInSlash(target)) mustBeDirectory = true;
      plan(target, true);
    };
    const up = (): void => {
      if (missing.length > 0) {
        if (!lexical) throw nothingThere(path);
        missing.pop();
      } else if (position.length > rootParts.length) {
        // Walked again from the root: a descriptor held for every level would use them up.
        const again = position.slice(rootParts.length, -1);
        position = [...rootParts];
        stepTo(start);
        for (const name of again.reverse()) todo.push({ name, fromLink: false });
      } else {
        position.pop();
      }
    };
    const down = (step: Step): void => {
      const child = `${directory.path}/${step.name}`;
      const last = todo.length === 0 && !mustBeDirectory;
      const found = last ? opener.anything(child) : opener.directory(child);
      if (found === undefined) {
        missing = [step.name];
        dangling = step.fromLink;
        return;
      }
      if ("link" in found) {
        follow(step, found.link);
        return;
      }
      position.push(step.name);
      if (last) {
        object = found;
        if (found.stats !== undefined) refuseForeign(found.stats, found.path);
      } else {
        stepTo(found);
      }
    };

    try {
      plan(path, false);
      for (let step = todo.pop(); step !== undefined; step = todo.pop()) {
        if (step.name === "..") up();
        else if (missing.length > 0) missing.push(step.name);
        else if (inside()) down(step);
        else if (step.name === rootParts[position.length]) position.push(step.name);
        else throw outsideRoot(path, root);
      }
      if (!inside()) throw outsideRoot(path, root);
      const hasParent = object !== undefined || missing.length > 0;
      const end = hasParent ? object : directory;
      const stats = end && (end.stats ?? statSync(end.path));
      if (!hasParent && stats !== undefined) refuseForeign(stats, directory.path);
      return {
        canonicalPath: `/${[...position, ...missing].join("/")}`,
        ...(hasParent ? { parent: directory.path } : {}),
        ...(end && stats ? { object: { path: end.path, stats, verify: (fd: number) => opener.verify({ ...end, stats }, fd) } } : {}),
        missing,
        dangling,
        mustBeDirectory,
        close,
      };
    } catch (error) {
      close();
      throw error;
    }
  }

  return { root, locate, close: opener.close };
}

/** Undefined when it was exchanged for something else in between. */
function readLinkIfStillOne(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (errnoOf(error) === "EINVAL" || errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
