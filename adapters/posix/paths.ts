import { refusal } from "./errors.js";

const MAX_PATH_BYTES = 4095;
const MAX_NAME_BYTES = 255;

/**
 * A path as the scripts want it: absolute, without repeated slashes and needless dots; `..` and a slash at the end stay,
 * since they have a meaning. Throws `invalid_argument` for what no kernel takes, so that not even its parents are made.
 */
export function plainPath(path: string): string {
  const plain = path.replace(/\/(?:\.?\/)+/g, "/").replace(/\/\.$/, "/");
  if (Buffer.byteLength(plain) > MAX_PATH_BYTES || plain.split("/").some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES)) {
    throw refusal("invalid_argument", path.length > 200 ? `${path.slice(0, 200)}…` : path);
  }
  return plain;
}

export function isWithin(root: string, path: string): boolean {
  return path === root || path.startsWith(root === "/" ? root : `${root}/`);
}
