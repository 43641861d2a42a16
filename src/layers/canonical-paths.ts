import { lexicalPath } from "../contract/tool.js";

/** Paths remembered per environment; the oldest are forgotten first. */
const MAX_REMEMBERED = 10_000;

interface CanonicalPaths {
  /** `path` (absolute, as asked) turned out to lead to `canonicalPath`. */
  learn(path: string, canonicalPath: string): void;
  /** The best that is known of where `path` leads, without asking the target. */
  recall(path: string): string;
  forget(): void;
}

/** What replies taught about symlinks, so that two names of one file share a mutation-queue key. */
export function createCanonicalPaths(cwd: string): CanonicalPaths {
  const known = new Map<string, string>();
  return {
    learn(path, canonicalPath) {
      // `link/..` is not the directory that holds the link: its lexical form would teach a falsehood.
      if (path.split("/").includes("..")) return;
      const key = lexicalPath("/", path);
      known.delete(key);
      if (key === canonicalPath) return;
      known.set(key, canonicalPath);
      const oldest = known.size > MAX_REMEMBERED ? known.keys().next().value : undefined;
      if (oldest !== undefined) known.delete(oldest);
    },
    recall(path) {
      const lexical = lexicalPath(cwd, path);
      if (known.size === 0) return lexical;
      for (let end = lexical.length; end > 0; end = lexical.lastIndexOf("/", end - 1)) {
        const canonical = known.get(lexical.slice(0, end));
        if (canonical !== undefined) return canonical === "/" ? lexical.slice(end) || "/" : canonical + lexical.slice(end);
      }
      return lexical;
    },
    forget: () => known.clear(),
  };
}
