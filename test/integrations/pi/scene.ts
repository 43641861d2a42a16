import { mkdtemp, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { findProgram } from "../../support/packages.js";
import type { PlaceName } from "../places.js";

/** A directory of this machine for the length of a test. */
export async function scratchDirectory(): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "glovebox-pi-")));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** The URL of a target of that kind, which is there until the test is over. */
export async function targetUrl(name: PlaceName | "memory"): Promise<string> {
  if (name === "memory") return "memory:?shell=just-bash";
  if (name === "local") return `local:${await scratchDirectory()}`;
  if (name === "docker") return "docker:";
  const { startSshd } = await import("../../support/sshd.js");
  const server = await startSshd();
  onTestFinished(() => server.stop());
  const options = { identity: server.privateKeyPath, hostKey: server.hostKeyFingerprint, config: "none" };
  const query = Object.entries(options).map(([option, value]) => `${option}=${encodeURIComponent(value)}`);
  return `${server.url}?${query.join("&")}`;
}

/** What Pi needs to run here: no network, a home of its own, and Debian's fd under the name that it looks for. */
export async function piEnvironment(): Promise<Readonly<Record<string, string>>> {
  const home = await scratchDirectory();
  const fd = findProgram("fd") ?? findProgram("fdfind");
  if (fd !== undefined) await symlink(fd, join(home, "fd"));
  return { HOME: home, PI_CODING_AGENT_DIR: join(home, "agent"), PI_OFFLINE: "1", PATH: `${home}:${process.env.PATH ?? ""}` };
}
