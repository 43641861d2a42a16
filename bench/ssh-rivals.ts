import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ssh2, { type Client, type SFTPWrapper } from "ssh2";
import type { SshServer } from "../test/support/sshd.js";

/** One way to run a shell command on the host with bytes on its standard input, and get what it prints. */
export type RunRemotely = (command: string, stdin?: Uint8Array) => Promise<Buffer>;

export interface Rivals extends AsyncDisposable {
  /** A fresh `ssh` for each operation. */
  readonly ssh: RunRemotely;
  /** `ssh` over a ControlMaster. */
  readonly controlMaster: RunRemotely;
  /** An exec channel for each operation on one ssh2 connection, TCP no-delay set. */
  readonly channel: RunRemotely;
  /** ssh2's whole-file calls. */
  readonly sftp: SFTPWrapper;
}

export async function openRivals(server: SshServer, port: number): Promise<Rivals> {
  const directory = await mkdtemp(join(tmpdir(), "glovebox-bench-ssh-"));
  const knownHosts = join(directory, "known_hosts");
  const options = [
    "-F",
    "none",
    "-i",
    server.privateKeyPath,
    "-p",
    String(port),
    "-o",
    "BatchMode=yes",
    "-o",
    "StrictHostKeyChecking=accept-new",
  ];
  const destination = `${server.account.name}@${server.host}`;
  const base = [...options, "-o", `UserKnownHostsFile=${knownHosts}`];
  const master = [...base, "-o", "ControlMaster=auto", "-o", `ControlPath=${join(directory, "control")}`, "-o", "ControlPersist=60"];
  const viaSsh =
    (words: readonly string[]): RunRemotely =>
    (command, stdin) =>
      runProcess(["ssh", ...words, destination, command], stdin);
  const client = await openClient(server, port);
  const sftp = await new Promise<SFTPWrapper>((resolve, reject) =>
    client.sftp((error, opened) => (error ? reject(error) : resolve(opened))),
  );
  await viaSsh(master)("true");
  return {
    ssh: viaSsh(base),
    controlMaster: viaSsh(master),
    channel: (command, stdin) => runChannel(client, command, stdin),
    sftp,
    async [Symbol.asyncDispose]() {
      client.end();
      await runProcess(["ssh", ...master, "-O", "exit", destination]).catch(() => undefined);
      await rm(directory, { recursive: true });
    },
  };
}

/** Copies a file to or from the host with OpenSSH's scp. */
export async function scp(server: SshServer, port: number, from: string, to: string): Promise<void> {
  const remote = (path: string): string => path.replace(/^:/, `${server.account.name}@${server.host}:`);
  const options = [
    "-q",
    "-F",
    "none",
    "-i",
    server.privateKeyPath,
    "-P",
    String(port),
    "-o",
    "StrictHostKeyChecking=no",
    "-o",
    "UserKnownHostsFile=/dev/null",
  ];
  await runProcess(["scp", ...options, remote(from), remote(to)]);
}

function openClient({ host, account, privateKey }: SshServer, port: number): Promise<Client> {
  const client = new ssh2.Client();
  return new Promise((resolve, reject) => {
    client.once("error", reject);
    client.once("ready", () => {
      client.setNoDelay(true);
      resolve(client);
    });
    client.connect({ sock: connect({ host, port, noDelay: true }), username: account.name, privateKey });
  });
}

function runChannel(client: Client, command: string, stdin?: Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    client.exec(command, (error, channel) => {
      if (error) return reject(error);
      const chunks: Buffer[] = [];
      channel.on("data", (chunk: Buffer) => chunks.push(chunk));
      channel.stderr.resume();
      channel.once("close", (code: number) =>
        code === 0 ? resolve(Buffer.concat(chunks)) : reject(new Error(`${command} exited ${code}`)),
      );
      channel.end(stdin);
    });
  });
}

function runProcess(words: readonly string[], stdin?: Uint8Array): Promise<Buffer> {
  const child = spawn(words[0] ?? "", words.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stdin.on("error", () => undefined);
  child.stdin.end(stdin);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => (code === 0 ? resolve(Buffer.concat(chunks)) : reject(new Error(`${words.join(" ")} exited ${code}`))));
  });
}
