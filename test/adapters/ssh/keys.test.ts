import { chmodSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { loadPrivateKey } from "../../../adapters/ssh/keys.js";
import { GloveboxError } from "../../../src/index.js";
import { describeTarget } from "../../support/describe-target.js";
import { runCommand } from "../../support/run-command.js";

/** Planted where it must never come out again. */
const SECRET = "correct-horse-battery-staple";

describeTarget("ssh", "H-2 private key files", () => {
  let directory = "";
  const at = (name: string): string => join(directory, name);
  const none = (): undefined => undefined;
  const keygen = async (name: string, ...options: readonly string[]): Promise<void> => {
    await runCommand("ssh-keygen", ["-q", "-N", "", "-C", "", "-f", at(name), ...options]);
  };
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "glovebox-test-"));
    await Promise.all([
      keygen("ed25519", "-t", "ed25519"),
      keygen("ecdsa", "-t", "ecdsa"),
      keygen("rsa", "-t", "rsa", "-b", "2048"),
      keygen("pem", "-t", "rsa", "-b", "2048", "-m", "PEM"),
      keygen("encrypted", "-t", "ed25519", "-N", SECRET),
      keygen("encrypted-pem", "-t", "rsa", "-b", "2048", "-m", "PEM", "-N", SECRET),
      keygen("open", "-t", "ed25519"),
    ]);
    chmodSync(at("open"), 0o644);
    chmodSync(at("ed25519.pub"), 0o600);
    writeFileSync(at("ppk"), `PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: ${SECRET}\n`, { mode: 0o600 });
    writeFileSync(at("garbage"), SECRET.repeat(20), { mode: 0o600 });
    writeFileSync(at("empty"), "", { mode: 0o600 });
    writeFileSync(at("huge"), "", { mode: 0o600 });
    truncateSync(at("huge"), 1024 ** 3);
    mkdirSync(at("directory"), { mode: 0o700 });
    await runCommand("mkfifo", ["-m", "600", at("fifo")]);
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it.each(["ed25519", "ecdsa", "rsa", "pem"])("%s is read", async (name) => {
    expect((await loadPrivateKey(at(name), none)).isPrivateKey()).toBe(true);
  });

  it.each(["encrypted", "encrypted-pem"])("%s is read with its passphrase, asked for by the name of the file", async (name) => {
    const asked: string[] = [];
    const key = await loadPrivateKey(at(name), async (file) => {
      asked.push(file);
      return SECRET;
    });
    expect([key.isPrivateKey(), asked]).toEqual([true, [at(name)]]);
  });

  interface Refused {
    readonly name: string;
    readonly message: RegExp;
    readonly passphrase?: string;
  }
  const REFUSED: readonly Refused[] = [
    { name: "encrypted", message: /is encrypted and no passphrase was given.*GLOVEBOX_SSH_PASSPHRASE/ },
    { name: "encrypted", message: /cannot be decrypted with the passphrase given/, passphrase: "wrong" },
    { name: "encrypted-pem", message: /cannot be decrypted with the passphrase given/, passphrase: "wrong" },
    { name: "ed25519.pub", message: /is a public key.*without \.pub/ },
    { name: "ppk", message: /not a private key in a format that can be read|is a public key|encrypted/ },
    { name: "garbage", message: /not a private key in a format/ },
    { name: "empty", message: /not a private key in a format/ },
    { name: "open", message: /may be read by others \(mode 0644\)\. Run chmod 600/ },
    { name: "directory", message: /is not a regular file/ },
    { name: "huge", message: /is 1073741824 bytes large/ },
    { name: "fifo", message: /is not a regular file/ },
    { name: "missing", message: /does not exist/ },
  ];
  it.each(REFUSED)("$name is refused: $message", async ({ name, message, passphrase }) => {
    const error = await loadPrivateKey(at(name), () => passphrase).catch((each: unknown) => each);
    if (!(error instanceof GloveboxError)) throw new Error("it was taken for a key");
    expect(error.code).toBe("auth_failed");
    expect(error.message).toMatch(message);
    expect(error.message).toContain(at(name));
    const told = JSON.stringify([error, error.stack, error.cause]);
    expect(told).not.toContain(SECRET);
    expect(told).not.toContain("PRIVATE KEY");
  });
});
