import { chmodSync, chownSync, mkdirSync, rmSync } from "node:fs";
import { afterAll, describe } from "vitest";
import { type PosixTargetOptions, posixTarget, scratchDirectory } from "../adapters/posix/posix-target.js";
import { shells } from "../adapters/posix/shells.js";
import { smallDiskHost } from "../adapters/posix/small-disk.js";
import { ensureAccount } from "../support/account.js";
import { describeContract, FILE_THEMES } from "./run.js";

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
    variants: ["plain"],
    // On most systems sh is one of the others.
    ...(name === "sh" && { themes: FILE_THEMES }),
  });
}

describe("with a root", () => {
  const options = { shell: shells["busybox sh"], root: directory("root/in"), cwd: directory("root/in/work"), transport: { cwd: "/" } };
  describeContract("a POSIX shell with a root (busybox sh)", () => posixTarget(options), {
    variants: ["plain"],
    themes: [...FILE_THEMES, "confinement", "exec", "grep", "find"],
  });
});

describe.skipIf(!isRoot)("as an ordinary user", () => {
  describeContract(
    "a POSIX shell as an ordinary user (sh)",
    async () => {
      const { uid, gid, home } = await ensureAccount();
      const cwd = directory("user", { uid, gid });
      return posixTarget({ shell: shells.sh, cwd, transport: { uid, gid, cwd: "/", env: { PATH: process.env.PATH, HOME: home } } });
    },
    { variants: ["plain"], themes: [...FILE_THEMES, "exec", "kill"] },
  );
});
