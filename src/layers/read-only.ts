import { GloveboxError } from "../contract/errors.js";
import type { Environment, Layer } from "../contract/target.js";
import { intercept } from "./intercept.js";

/** Reads and searches only: `writeFile` and `exec` reject `permission_denied`, and the capabilities say that there is no `exec`. */
export function readOnly(): Layer {
  return (inner) => {
    const refusing = intercept(async ({ verb, path }, next) => {
      if (verb !== "writeFile" && verb !== "exec") return await next();
      const what = verb === "exec" ? "A command could change files, so none is run" : "Nothing is written";
      const message = `${what}: this environment was opened read-only. Say what you would change instead.`;
      throw new GloveboxError("permission_denied", message, { retrySafe: true, target: inner.label, verb, path });
    })(inner);
    return Object.assign(Object.create(refusing) as Environment, { capabilities: { ...inner.capabilities, exec: false } });
  };
}
