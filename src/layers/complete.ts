import { GloveboxError } from "../contract/errors.js";
import type { Verbs } from "../contract/operations.js";
import type { Connection } from "../contract/target.js";
import { portableFind } from "./search/portable-find.js";
import { portableGrep } from "./search/portable-grep.js";

/**
 * All eight verbs from what an adapter wrote: a missing `exec` rejects `unsupported`, a missing `grep` or `find` is the
 * portable walk over its file verbs.
 */
export function complete(connection: Connection, label: string): Verbs {
  const { cwd } = connection;
  return {
    readFile: (path, options) => connection.readFile(path, options),
    writeFile: (path, data, options) => connection.writeFile(path, data, options),
    stat: (path, options) => connection.stat(path, options),
    readdir: (path, options) => connection.readdir(path, options),
    realpath: (path, options) => connection.realpath(path, options),
    exec: async (command, options) => {
      if (connection.exec !== undefined) return await connection.exec(command, options);
      throw new GloveboxError(
        "unsupported",
        `${label} cannot run commands: it has files and no processes. Use the file verbs, or open a target with a shell: local:PATH, docker://CONTAINER/PATH or ssh://USER@HOST/PATH.`,
        { retrySafe: true },
      );
    },
    grep: async (root, query, options) =>
      connection.grep === undefined
        ? await portableGrep({ files: connection, cwd }, root, query, options)
        : await connection.grep(root, query, options),
    find: async (root, query, options) =>
      connection.find === undefined
        ? await portableFind({ files: connection, cwd }, root, query, options)
        : await connection.find(root, query, options),
  };
}
