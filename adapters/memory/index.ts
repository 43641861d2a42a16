import { GloveboxError } from "../../src/contract/errors.js";
import type { Adapter } from "../../src/contract/target.js";
import { memory } from "./memory.js";

export type { MemoryDisk, MemoryFile, MemoryFiles } from "./files.js";
export type { MemoryCall, MemoryFaults } from "./journal.js";
export { type MemoryExtras, type MemoryOptions, memory } from "./memory.js";
export type { CommandScript, Commands, ScriptedCall, ScriptedResult } from "./script.js";
export { seedFromDirectory } from "./seed-directory.js";

/** `memory:`, `memory:/working/directory`, `memory:?seed=DIRECTORY&shell=just-bash`. */
export const adapter: Adapter = ({ authority, path, options, text }) => {
  for (const name of options.keys()) {
    if (name !== "seed" && name !== "shell") throw refuse(`Unknown option "${name}" in ${text}: memory takes seed and shell.`);
  }
  if (authority !== "") throw refuse(`${text} names a host, and memory has none. Write memory: or memory:/path.`);
  const shell = options.get("shell");
  if (shell !== undefined && shell !== "just-bash") throw refuse(`Unknown shell "${shell}" in ${text}: memory has just-bash, or none.`);
  const seedDirectory = options.get("seed");
  if (seedDirectory === "") throw refuse(`The option seed in ${text} names no directory.`);
  return memory({ label: text, ...(path === "" ? {} : { cwd: path }), seedDirectory, shell });
};

function refuse(message: string): GloveboxError {
  return new GloveboxError("invalid_argument", message);
}
