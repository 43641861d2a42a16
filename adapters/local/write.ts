import { accessSync, constants } from "node:fs";
import type { FileWritten, WriteFileOptions } from "../../src/contract/operations.js";
import { lexicalPath } from "../../src/contract/tool.js";
import type { AttributeCopier } from "./attributes.js";
import { makeDirectories } from "./directories.js";
import { refusal } from "./errors.js";
import { expectation } from "./expectation.js";
import type { Located, LocatedObject, Walker } from "./located.js";
import { lockFile } from "./lock.js";
import { checkAbort } from "./pause.js";
import type { PlainFiles } from "./plain-files.js";
import { isProtected } from "./protected-names.js";
import { regularFile } from "./read.js";
import { overwriteInPlace, replaceFile } from "./replace.js";

/** What becomes of a file that has other names: it is not written, it is cut loose from them, or all of them change. */
export type HardLinkPolicy = "refuse" | "break" | "inplace";

export interface WritePolicy {
  readonly durable: boolean;
  readonly hardLinks: HardLinkPolicy;
  readonly allowProtected: boolean;
}

export interface WriteRequest {
  readonly walker: Walker;
  readonly path: string;
  readonly data: Uint8Array;
  readonly options: WriteFileOptions;
  readonly policy: WritePolicy;
  readonly attributes: AttributeCopier;
  readonly plainFiles: PlainFiles;
  /** Told when attributes of the old file could not be given to the new one. */
  onAttributesLost(): void;
}

/** So often is a path looked at again that changes meanwhile. */
const MAX_ROUNDS = 20;

/** Writes a file under its lock. Keeps every promise of `FileVerbs.writeFile`. */
export async function writeLocked(request: WriteRequest): Promise<FileWritten> {
  const { walker, path, options } = request;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const first = walker.locate(path);
    const { canonicalPath } = first;
    try {
      // Whoever makes the file just now has it under two names for a moment, and the lock until that is over.
      checkTarget({ ...request, policy: { ...request.policy, hardLinks: "break" } }, first);
    } finally {
      first.close();
    }
    const release = await lockFile(canonicalPath, { signal: options.signal });
    try {
      const located = walker.locate(path);
      try {
        const written = located.canonicalPath === canonicalPath ? await writeLocated(request, located) : undefined;
        if (written !== undefined) return written;
      } finally {
        located.close();
      }
    } finally {
      release();
    }
  }
  throw refusal("busy", `${JSON.stringify(path)} was something else each time it was looked at. Wait until others are done with it.`);
}

/** Undefined when the file changed under its writer's hands: look again. */
async function writeLocated(request: WriteRequest, located: Located): Promise<FileWritten | undefined> {
  const { path, data, options, policy } = request;
  const { canonicalPath } = located;
  const existing = checkTarget(request, located);
  const expected = await expectation(path, existing, options);
  checkAbort(options.signal);
  if (existing !== undefined && existing.stats.nlink > 1 && policy.hardLinks === "inplace") {
    await overwriteInPlace(existing, data, policy.durable);
    return { canonicalPath, created: false };
  }
  const name = located.missing.at(-1) ?? canonicalPath.slice(canonicalPath.lastIndexOf("/") + 1);
  const directories = makeDirectories(located.parent ?? "", located.missing.slice(0, -1));
  try {
    const replaced = await replaceFile({ ...request, existing, directories, name, expected });
    if (!replaced) directories.undo();
    return replaced ? { canonicalPath, created: existing === undefined } : undefined;
  } catch (error) {
    directories.undo();
    throw error;
  } finally {
    directories.close();
  }
}

/** The file that is there, if one is. Throws when this target may not be written. */
function checkTarget({ walker, path, policy }: WriteRequest, located: Located): LocatedObject | undefined {
  if (!policy.allowProtected) checkProtected(walker.root, path, located.canonicalPath);
  if (located.object === undefined) {
    if (located.dangling) {
      throw refusal(
        "not_found",
        `${JSON.stringify(path)} leads through a symlink to ${located.canonicalPath}, which is not there. Write to that path itself, or remove the symlink.`,
      );
    }
    if (located.mustBeDirectory) {
      throw refusal("is_directory", `${JSON.stringify(path)} ends in a slash, which names a directory. Leave it out to write a file.`);
    }
    return undefined;
  }
  const object = regularFile(located, path);
  if (object.stats.nlink > 1 && policy.hardLinks === "refuse") {
    throw refusal(
      "hard_link",
      `${JSON.stringify(path)} has ${object.stats.nlink - 1} other name(s) (hard links), which an atomic write would cut loose. Open the target with hardLinks: "break" for that, or with hardLinks: "inplace" to change all of them at once, not atomically.`,
      { details: { option: "hardLinks", links: object.stats.nlink } },
    );
  }
  // Renaming over a file asks nobody whether the file itself may be written.
  accessSync(object.path, constants.W_OK);
  return object;
}

function checkProtected(root: string, path: string, canonicalPath: string): void {
  const written = [canonicalPath, lexicalPath(root, path)];
  const [hit] = written.map((each) => each.slice(root === "/" ? 0 : root.length)).filter(isProtected);
  if (hit === undefined) return;
  throw refusal(
    "permission_denied",
    `${JSON.stringify(path)} is protected: git hooks and configuration, shell start-up files and the settings of editors and agents are run or obeyed later, unasked. Open the target with allowProtected: true to let file tools write them.`,
    { details: { option: "allowProtected" } },
  );
}
