import type { Environment, Layer, VerbCall } from "../contract/target.js";

/**
 * What a layer does around each verb. `next` runs the verb (again, if called again) and returns its own result or
 * rejection; what `around` returns or throws is what the caller sees.
 */
export type Around = <Result>(call: VerbCall, next: () => Promise<Result>) => Promise<Result>;

/**
 * One function around every verb: how layers are written. Everything else of the environment shows through unchanged,
 * which works because environments are closures and never use `this`.
 */
export function intercept(around: Around): Layer {
  return (inner: Environment): Environment => {
    const verbs: Pick<Environment, "readFile" | "writeFile" | "stat" | "readdir" | "realpath" | "exec" | "grep" | "find"> = {
      readFile: (path, options) => around({ verb: "readFile", path, signal: options?.signal }, () => inner.readFile(path, options)),
      writeFile: (path, data, options) =>
        around({ verb: "writeFile", path, bytes: data.byteLength, signal: options?.signal }, () => inner.writeFile(path, data, options)),
      stat: (path, options) => around({ verb: "stat", path, signal: options?.signal }, () => inner.stat(path, options)),
      readdir: (path, options) => around({ verb: "readdir", path, signal: options?.signal }, () => inner.readdir(path, options)),
      realpath: (path, options) => around({ verb: "realpath", path, signal: options?.signal }, () => inner.realpath(path, options)),
      exec: (command, options) =>
        around({ verb: "exec", path: options?.cwd, text: command, signal: options?.signal }, () => inner.exec(command, options)),
      grep: (root, query, options) =>
        around({ verb: "grep", path: root, text: query.pattern, signal: options?.signal }, () => inner.grep(root, query, options)),
      find: (root, query, options) =>
        around({ verb: "find", path: root, text: query.pattern, signal: options?.signal }, () => inner.find(root, query, options)),
    };
    return Object.assign(Object.create(inner) as Environment, verbs);
  };
}
