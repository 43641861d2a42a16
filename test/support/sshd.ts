import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ensureAccount, rootAccount } from "./account.js";
import { loopback } from "./loopback.js";
import { findProgram } from "./packages.js";
import { runCommand } from "./run-command.js";
import { type SshServer, type SshServerProgram, startSshServer } from "./ssh-server.js";

export type { SshServer } from "./ssh-server.js";

export interface SshServerOptions {
  /** "account" (default) is a non-root account made for tests; "root" logs in as root, where sshd ignores signals. */
  readonly login?: "account" | "root";
  /** A login shell other than bash; the account gets a name of its own for it. */
  readonly shell?: { readonly name: string; readonly path: string };
}

export interface SshdOptions extends SshServerOptions {
  /** Lines of sshd_config that take precedence over ours, such as "MaxSessions 2" or "ForceCommand internal-sftp". */
  readonly config?: readonly string[];
}

/** Starts a private OpenSSH server. It allows what a stock one does: SFTP, forwarding of ports and sockets, 10 sessions. */
export async function startSshd(options: SshdOptions = {}): Promise<SshServer> {
  const sshd = programOf("sshd", "openssh-server");
  const account = await chooseAccount(options);
  if (account.uid === 0 || process.getuid?.() === 0) await mkdir("/run/sshd", { recursive: true, mode: 0o755 });
  const program: SshServerProgram = {
    account,
    async makeHostKey({ hostKeyPath }) {
      await runCommand("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", hostKeyPath]);
      return await readFile(`${hostKeyPath}.pub`, "utf8");
    },
    async command({ directory, hostKeyPath, authorizedKeysPath }, port) {
      const configPath = join(directory, "sshd_config");
      // The first value of a keyword counts.
      const lines = [
        ...(options.config ?? []),
        `ListenAddress ${loopback}:${port}`,
        `HostKey ${hostKeyPath}`,
        `AuthorizedKeysFile ${authorizedKeysPath}`,
        "AuthenticationMethods publickey",
        "PasswordAuthentication no",
        "KbdInteractiveAuthentication no",
        `PermitRootLogin ${account.uid === 0 ? "prohibit-password" : "no"}`,
        `AllowUsers ${account.name}`,
        // The files live below the temporary directory, which others may write.
        "StrictModes no",
        "UsePAM no",
        "PidFile none",
        "LogLevel VERBOSE",
        "PrintMotd no",
        "MaxStartups 100",
        "Subsystem sftp internal-sftp",
      ];
      await writeFile(configPath, `${lines.join("\n")}\n`);
      return [sshd, "-D", "-e", "-f", configPath];
    },
  };
  return await startSshServer(program);
}

/** Starts a private Dropbear server: another implementation, with one process per connection and no signals in its protocol. Needs root. */
export async function startDropbear(options: SshServerOptions = {}): Promise<SshServer> {
  const dropbear = programOf("dropbear", "dropbear-bin");
  const unshare = programOf("unshare", "util-linux");
  const account = await chooseAccount(options);
  const program: SshServerProgram = {
    account,
    async makeHostKey({ hostKeyPath }) {
      await runCommand("dropbearkey", ["-t", "ed25519", "-f", hostKeyPath]);
      const { stdout } = await runCommand("dropbearkey", ["-y", "-f", hostKeyPath]);
      const line = stdout.split("\n").find((each) => each.startsWith("ssh-ed25519 "));
      if (line === undefined) throw new Error(`dropbearkey prints no public key: ${stdout}`);
      return line;
    },
    async command({ directory, hostKeyPath, authorizedKeysPath }, port) {
      // It only looks into the home of the account, so each server gets a view of that home with a .ssh of its own.
      const keys = join(directory, "dot-ssh");
      await mkdir(keys, { recursive: true, mode: 0o755 });
      await writeFile(join(keys, "authorized_keys"), await readFile(authorizedKeysPath));
      await mkdir(join(account.home, ".ssh"), { recursive: true, mode: 0o700 });
      const script = 'mount --bind "$1" "$2" && shift 2 && exec "$@"';
      const serve = [dropbear, "-F", "-E", "-s", "-p", `${loopback}:${port}`, "-r", hostKeyPath, "-P", join(directory, "pid")];
      return [unshare, "--mount", "sh", "-c", script, "sh", keys, join(account.home, ".ssh"), ...serve];
    },
  };
  return await startSshServer(program);
}

function chooseAccount({ login, shell }: SshServerOptions): ReturnType<typeof ensureAccount> {
  if (login === "root") return Promise.resolve(rootAccount());
  return ensureAccount(shell === undefined ? {} : { name: `glovebox-test-${shell.name}`, shell: shell.path });
}

function programOf(name: string, debianPackage: string): string {
  const path = findProgram(name);
  if (path === undefined) throw new Error(`${name} is not installed (Debian: ${debianPackage})`);
  return path;
}
