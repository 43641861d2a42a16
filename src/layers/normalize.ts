import { abortError } from "../contract/errors.js";
import type { VerbName } from "../contract/operations.js";
import type { Environment } from "../contract/target.js";
import { absolutePath, checkExec, checkRead, checkSearch, checkWrite } from "./arguments.js";
import { createCanonicalPaths } from "./canonical-paths.js";
import { toGloveboxError } from "./foreign-error.js";

/**
 * Always on, right above the adapter. Arguments that no target accepts are refused before anything travels, paths become
 * absolute, an aborted signal rejects at once, every rejection is a GloveboxError that names target, verb and path, and
 * canonical paths in replies are remembered for `mutationKey` until a command runs.
 */
export function normalize(inner: Environment): Environment {
  const paths = createCanonicalPaths(inner.cwd);

  const call = async <Result>(verb: VerbName, given: string, signal: AbortSignal | undefined, run: (path: string) => Promise<Result>) => {
    let path = given;
    try {
      path = absolutePath(inner.cwd, given, verb === "exec" ? "cwd" : "path");
      if (signal?.aborted) throw abortError(signal, { retrySafe: true });
      return await run(path);
    } catch (error) {
      throw toGloveboxError(error, { target: inner.label, verb, path }, signal);
    }
  };
  const learning = async <Result extends { readonly canonicalPath: string }>(path: string, reply: Promise<Result>): Promise<Result> => {
    const result = await reply;
    paths.learn(path, result.canonicalPath);
    return result;
  };

  const verbs: Pick<Environment, VerbName | "mutationKey"> = {
    readFile: (path, options = {}) =>
      call("readFile", path, options.signal, (absolute) => {
        checkRead(options);
        return learning(absolute, inner.readFile(absolute, options));
      }),
    writeFile: (path, data, options = {}) =>
      call("writeFile", path, options.signal, (absolute) => {
        checkWrite(data, options);
        return learning(absolute, inner.writeFile(absolute, data, options));
      }),
    stat: (path, options = {}) => call("stat", path, options.signal, (absolute) => learning(absolute, inner.stat(absolute, options))),
    readdir: (path, options = {}) => call("readdir", path, options.signal, (absolute) => inner.readdir(absolute, options)),
    realpath: (path, options = {}) =>
      call("realpath", path, options.signal, async (absolute) => {
        const canonicalPath = await inner.realpath(absolute, options);
        paths.learn(absolute, canonicalPath);
        return canonicalPath;
      }),
    exec: (command, options = {}) =>
      call("exec", options.cwd ?? inner.cwd, options.signal, async (cwd) => {
        checkExec(command, options);
        paths.forget();
        return await inner.exec(command, { ...options, cwd }).finally(paths.forget);
      }),
    grep: (root, query, options = {}) =>
      call("grep", root, options.signal, (absolute) => {
        checkSearch(query);
        return inner.grep(absolute, query, options);
      }),
    find: (root, query, options = {}) =>
      call("find", root, options.signal, (absolute) => {
        checkSearch(query);
        return inner.find(absolute, query, options);
      }),
    mutationKey: (path) => `${inner.id}:${paths.recall(path)}`,
  };
  return Object.assign(Object.create(inner) as Environment, verbs);
}
