import { chmodSync, chownSync, mkdirSync, rmSync } from "node:fs";
import { afterAll, describe } from "vitest";
import { type PosixTargetOptions, posixTarget, scratchDirectory } from "../adapters/posix/posix-target.js";
import { shells } from "../adapters/posix/shells.js";
import { smallDiskHost } from "../adapters/posix/small-disk.js";
import { ensureAccount } from "../support/account.js";
import { describeContract } from "./run.js";

const isRoot = process.getuid?.() === 0;
const scratch = scratchDirectory();
chmodSync(scratch, 0o755);
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function directory(name: string, owner?: { readonly uid: number; readonly gid: number }): string {
  const path = `${scratch}/${name}`;
  mkdirSync(path, { recursive: true });
  if (owner !== undefined) chownSync(path, owner.uid, owner.gid);
  return path;
}

const host = isRoot ? { host: smallDiskHost } : {};

for (const [name, shell] of Object.entries(shells)) {
  const options = (): PosixTargetOptions => ({ shell, cwd: directory(name.replace(" ", "-")) });
  describeContract(`a POSIX shell (${name})`, () => posixTarget(options()), {
    ...host,
    variants: name === "sh" ? ["plain", "behind all layers"] : ["plain"],
  });
}

describe("with a root", () => {
  for (const name of ["sh", "busybox sh"] as const) {
    const root = directory(`root-${name.length}/in`);
    const options = { shell: shells[name], root, cwd: directory(`root-${name.length}/in/work`), transport: { cwd: "/" } };
    describeContract(`a POSIX shell with a root (${name})`, () => posixTarget(options), { variants: ["plain"] });
  }
});

describe.skipIf(!isRoot)("as an ordinary user", () => {
  for (const name of ["sh", "busybox sh"] as const) {
    describeContract(
      `a POSIX shell as an ordinary user (${name})`,
      async () => {
        const { uid, gid, home } = await ensureAccount();
        const cwd = directory(`user-${name.length}`, { uid, gid });
        return posixTarget({ shell: shells[name], cwd, transport: { uid, gid, cwd: "/", env: { PATH: process.env.PATH, HOME: home } } });
      },
      { variants: ["plain"] },
    );
  }
});
