import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { runCommand } from "./run-command.js";

export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
}

const defaultName = "glovebox-test";

/**
 * An account to log in to. As root: one made for tests, without a password, kept for later runs (only a server that a
 * test starts has a key for it). Otherwise nobody can be made, and the account is our own.
 */
export async function ensureAccount(options: { readonly name?: string; readonly shell?: string } = {}): Promise<Account> {
  if (process.getuid?.() !== 0) return ownAccount();
  const name = options.name ?? defaultName;
  if (!name.startsWith(defaultName)) throw new Error(`accounts of tests are called ${defaultName}…, not ${name}`);
  // useradd gives up at once where another process holds its lock.
  for (let attempt = 1; ; attempt++) {
    const known = findAccount(name);
    if (known !== undefined) return known;
    const made = await runCommand(
      "useradd",
      ["--create-home", "--user-group", "--password", "*", "--shell", options.shell ?? "/bin/bash", name],
      { allowFailure: true },
    );
    if (made.exitCode !== 0 && attempt >= 20) throw new Error(`useradd ${name}: ${made.stderr.trim()}`);
    if (made.exitCode !== 0) await sleep(100);
  }
}

export function rootAccount(): Account {
  return { name: "root", uid: 0, gid: 0, home: "/root" };
}

function ownAccount(): Account {
  const { username, uid, gid, homedir } = userInfo();
  return { name: username, uid, gid, home: homedir };
}

function findAccount(name: string): Account | undefined {
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((each) => each.startsWith(`${name}:`));
  const [, , uid, gid, , home] = line?.split(":") ?? [];
  return home === undefined ? undefined : { name, uid: Number(uid), gid: Number(gid), home };
}
