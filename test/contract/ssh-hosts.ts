import { chmod, link, lstat, mkdir, rm, symlink } from "node:fs/promises";
import { dirname } from "node:path";
import type { ContractHost } from "../../src/testing/index.js";
import { runCommand } from "../support/run-command.js";

/** Sets the scene on this machine itself, where the servers of the tests run too, for an account that has no commands. */
export function loopbackHost(uid: number, gid: number): ContractHost {
  const own = async (path: string): Promise<void> => {
    await runCommand("chown", ["-h", `${uid}:${gid}`, path]);
  };
  const parents = async (path: string): Promise<void> => {
    const missing: string[] = [];
    for (let at = path; !(await lstat(at).then(Boolean, () => false)); at = dirname(at)) missing.unshift(at);
    for (const each of missing) {
      await mkdir(each);
      await own(each);
    }
  };
  return {
    mkdir: parents,
    async symlink(target, path) {
      await parents(dirname(path));
      await symlink(target, path);
      await own(path);
    },
    async link(existing, path) {
      await parents(dirname(path));
      await link(existing, path);
    },
    chmod,
    async fifo(path) {
      await parents(dirname(path));
      await runCommand("mkfifo", [path]);
      await own(path);
    },
    remove: (path) => rm(path, { recursive: true, force: true }),
  };
}
