import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdir, open, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Account } from "./account.js";
import { freePort, loopback, waitForGreeting } from "./loopback.js";
import { findProgram } from "./packages.js";
import { killAll, processesServing, processesWithEnvironment } from "./processes.js";
import { runCommand } from "./run-command.js";
import { makeScratch, removeScratch } from "./scratch.js";

/** A private SSH server on loopback, its keys, and one account that may log in with them. */
export interface SshServer extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  readonly account: Account;
  /** A fresh directory that belongs to the account; removed by stop(). */
  readonly workspace: string;
  readonly privateKeyPath: string;
  readonly privateKey: string;
  /** The line to trust: "ssh-ed25519 AAAA…". */
  readonly hostKey: string;
  /** As ssh prints it: "SHA256:…" without padding. */
  readonly hostKeyFingerprint: string;
  readonly knownHostsPath: string;
  readonly url: string;
  /** The listener's pid, or undefined while it does not run. */
  readonly pid: number | undefined;
  readLog(): Promise<string>;
  /** The processes that serve one connection each (and their privilege-separated halves). */
  connectionPids(): Promise<readonly number[]>;
  /**
   * Ends every connection by killing what serves it, and returns how many processes that were; what was started through
   * the connections lives on. SIGSTOP and SIGCONT freeze and thaw them.
   */
  killConnections(signal?: NodeJS.Signals): Promise<number>;
  /** Stops the listener only: connections live on, new ones are refused. */
  stopListening(): Promise<void>;
  /** Listens again, on the same port, with the same keys. */
  startListening(): Promise<void>;
  /** Ends the listener, the connections, whatever was started through them, and removes the files. */
  stop(): Promise<void>;
}

export interface SshServerFiles {
  readonly directory: string;
  readonly hostKeyPath: string;
  readonly authorizedKeysPath: string;
}

export interface SshServerProgram {
  readonly account: Account;
  /** Makes the private key file hostKeyPath and the public one beside it. */
  makeHostKey(files: SshServerFiles): Promise<string>;
  /** The command that serves in the foreground and logs to stderr. */
  command(files: SshServerFiles, port: number): Promise<readonly [string, ...string[]]>;
}

export async function startSshServer(program: SshServerProgram): Promise<SshServer> {
  const { account } = program;
  const directory = await makeScratch();
  // The server reads authorized_keys as the account, which has to get through here.
  await chmod(directory, 0o755);
  const files = { directory, hostKeyPath: join(directory, "host_key"), authorizedKeysPath: join(directory, "authorized_keys") };
  const privateKeyPath = join(directory, "id_ed25519");
  const knownHostsPath = join(directory, "known_hosts");
  const logPath = join(directory, "log");
  const workspace = join(directory, "workspace");
  await mkdir(workspace);
  await chown(workspace, account.uid, account.gid);
  await runCommand("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "glovebox-test", "-f", privateKeyPath]);
  const publicKey = await readFile(`${privateKeyPath}.pub`, "utf8");
  await writeFile(files.authorizedKeysPath, publicKey);
  const hostKey = (await program.makeHostKey(files)).split(" ").slice(0, 2).join(" ");
  await writeFile(`${files.hostKeyPath}.line`, `${hostKey}\n`);
  const { stdout: fingerprint } = await runCommand("ssh-keygen", ["-l", "-f", `${files.hostKeyPath}.line`]);

  let listener: ChildProcess | undefined;
  let port = 0;

  async function launch(candidate: number): Promise<boolean> {
    const log = await open(logPath, "a");
    const command = [...diesWithParent(), ...(await program.command(files, candidate))];
    const child = spawn(command[0] ?? "", command.slice(1), { stdio: ["ignore", log.fd, log.fd], env: { PATH: process.env.PATH } });
    const failure = once(child, "error").catch(() => undefined);
    await log.close();
    listener = child;
    child.once("exit", () => {
      if (listener === child) listener = undefined;
    });
    const isAlive = (): boolean => child.exitCode === null && child.signalCode === null && child.pid !== undefined;
    const greeted = await waitForGreeting(candidate, 10_000, isAlive);
    if (!greeted) {
      child.kill("SIGKILL");
      void failure;
    }
    return greeted;
  }

  // Another process can take the port between the moment it was seen free and now.
  for (let attempt = 1; port === 0; attempt++) {
    const candidate = await freePort();
    if (await launch(candidate)) port = candidate;
    else if (attempt === 5) throw new Error(`the SSH server does not start: ${await readFile(logPath, "utf8")}`);
  }
  await writeFile(knownHostsPath, `[${loopback}]:${port} ${hostKey}\n`);

  const readLog = (): Promise<string> => readFile(logPath, "utf8");
  const connectionPids = async (): Promise<readonly number[]> => (await processesServing(port)).filter((pid) => pid !== listener?.pid);
  const stopListening = async (): Promise<void> => {
    const child = listener;
    if (child === undefined) return;
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
  };
  const stop = async (): Promise<void> => {
    await stopListening();
    killAll(await connectionPids(), "SIGKILL");
    killAll(await processesWithEnvironment(sessionsOf(port)), "SIGKILL");
    await removeScratch(directory);
  };
  return {
    host: loopback,
    port,
    account,
    workspace,
    privateKeyPath,
    privateKey: await readFile(privateKeyPath, "utf8"),
    hostKey,
    hostKeyFingerprint: fingerprint.split(" ")[1] ?? "",
    knownHostsPath,
    url: `ssh://${account.name}@${loopback}:${port}${workspace}`,
    get pid() {
      return listener?.pid;
    },
    readLog,
    connectionPids,
    async killConnections(signal = "SIGKILL") {
      return killAll(await connectionPids(), signal);
    },
    stopListening,
    async startListening() {
      if (listener === undefined && !(await launch(port))) throw new Error(`port ${port} is not to be had again: ${await readLog()}`);
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Both servers tell a session its connection: SSH_CONNECTION="client port server port". */
function sessionsOf(port: number): RegExp {
  return new RegExp(`(^|\\0)SSH_CONNECTION=\\S+ \\d+ \\S+ ${port}(\\0|$)`);
}

/** A test worker that is killed takes its servers along, where the system can do that. */
function diesWithParent(): readonly string[] {
  const setpriv = process.platform === "linux" ? findProgram("setpriv") : undefined;
  return setpriv === undefined ? [] : [setpriv, "--pdeathsig", "KILL", "--"];
}
