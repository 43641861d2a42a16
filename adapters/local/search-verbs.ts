import type { SearchVerbs } from "../../src/contract/operations.js";
import { refusal } from "./errors.js";
import { findWithFd } from "./fd.js";
import type { Located } from "./located.js";
import { regularFile } from "./read.js";
import { ripgrep } from "./ripgrep.js";
import type { Roots } from "./roots.js";
import type { SearchTools } from "./search-tools.js";

/** `grep` and `find` where their tools are there; the portable ones take over where not. */
export function createSearchVerbs(roots: Roots, tools: SearchTools): Partial<SearchVerbs> {
  const { ripgrep: program, fd } = tools;
  const grep: SearchVerbs["grep"] = async (root, query, options) => {
    const located = roots.locate(root);
    try {
      if (located.object?.stats.isDirectory())
        return await ripgrep(program ?? "", { directory: directoryOf(located, root) }, query, options);
      regularFile(located, root);
      const file = located.canonicalPath.slice(located.canonicalPath.lastIndexOf("/") + 1);
      return await ripgrep(program ?? "", { directory: seenByChildren(located.parent ?? ""), file }, query, options);
    } finally {
      located.close();
    }
  };
  const find: SearchVerbs["find"] = async (root, query, options) => {
    const located = roots.locate(root);
    try {
      const { canonicalPath } = located;
      return await findWithFd(
        fd ?? { program: "", everywhere: false },
        { directory: directoryOf(located, root), canonicalPath },
        query,
        options,
      );
    } finally {
      located.close();
    }
  };
  return { ...(program === undefined ? {} : { grep }), ...(fd === undefined ? {} : { find }) };
}

function directoryOf({ object }: Located, root: string): string {
  if (object === undefined)
    throw refusal(
      "not_found",
      `${JSON.stringify(root)} does not exist, so there is nothing to search. List its parent to see what is there.`,
    );
  if (!object.stats.isDirectory())
    throw refusal("not_directory", `${JSON.stringify(root)} is not a directory. Search the directory that it is in.`);
  return seenByChildren(object.path);
}

/** A descriptor of ours, named so that a child can enter it. */
function seenByChildren(path: string): string {
  return path.replace("/proc/self/", `/proc/${process.pid}/`);
}
