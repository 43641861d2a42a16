import { realpathSync } from "node:fs";
import type { MountSettings } from "dockerode";
import { checkContainerPath, refuse } from "./names.js";
import type { SandboxOptions } from "./options.js";

/** The host's own directories, with all below them. */
const SYSTEM = /^\/(?:bin|boot|dev|etc|lib|lib32|lib64|proc|root|run|sbin|sys|usr|var\/run|var\/lib\/(?:containerd|docker))(?:\/|$)/;
/** Directories that hold such ones, or everything of a user's, keys included; what is deeper may be bound. */
const WHOLE = /^\/(?:home(?:\/[^/]+)?|var(?:\/lib)?)?$/;

/** The mounts for the option binds. Sources are resolved here and now: a later change of a symlink has no say. */
export function checkBinds({ binds = [], bindBase }: SandboxOptions, local: boolean, warnings: string[]): readonly MountSettings[] {
  if (binds.length === 0) return [];
  if (bindBase === undefined) throw refuse("The option binds needs bindBase, the one directory of the host below which a bind may be");
  if (!local)
    throw refuse("The option binds works only with an engine on this machine, where its host's paths can be checked. Use a volume");
  const base = resolve(bindBase, "bindBase");
  const mounts = binds.map(({ source, target, readonly = true }): MountSettings => {
    const path = resolve(source, "binds");
    if (path !== base && !path.startsWith(base === "/" ? "/" : `${base}/`)) {
      throw refuse(`${JSON.stringify(source)} leads to ${path}, which is not below bindBase, ${base}`);
    }
    if (SYSTEM.test(path) || WHOLE.test(path))
      throw refuse(`${path} belongs to the host's system, or is a whole home, and cannot be bound into a sandbox`);
    if (/[,:]|\.sock$/.test(path)) throw refuse(`${path} cannot be bound: sockets, and names with "," or ":", are refused`);
    if (!readonly) warnings.push(`bind: commands can change ${path} on the host, and fill its disk.`);
    return {
      Type: "bind",
      Source: path,
      Target: checkContainerPath(target, "the target of a bind"),
      ReadOnly: readonly,
      BindOptions: { Propagation: "rprivate" },
    };
  });
  warnings.push("bind: setuid files and devices in a bound directory keep their bits (inert here: no-new-privileges, no devices).");
  return mounts;
}

function resolve(path: string, option: string): string {
  if (!path.startsWith("/")) throw refuse(`${JSON.stringify(path.slice(0, 80))} in the option ${option} must be absolute`);
  try {
    return realpathSync.native(path);
  } catch {
    throw refuse(`${JSON.stringify(path.slice(0, 80))} in the option ${option} does not exist on this machine`);
  }
}
