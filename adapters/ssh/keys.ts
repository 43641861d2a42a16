import { constants } from "node:fs";
import { type FileHandle, open, readFile } from "node:fs/promises";
import type { ParsedKey } from "ssh2";
import { GloveboxError } from "../../src/contract/errors.js";

/** Asked for the passphrase of an encrypted key file. Undefined: none is known. */
export type PassphraseOf = (keyFile: string) => string | undefined | Promise<string | undefined>;

/** A private key is a few kilobytes; anything much larger is another file. */
const MAX_KEY_BYTES = 64 * 1024;

/** Reads and decrypts a private key file. Rejects `auth_failed`, saying what is wrong with it and never what is in it. */
export async function loadPrivateKey(file: string, passphraseOf: PassphraseOf): Promise<ParsedKey> {
  const data = await readKeyFile(file);
  const { utils } = (await import("ssh2")).default;
  let parsed = utils.parseKey(data);
  if (parsed instanceof Error && /passphrase|encrypted/i.test(parsed.message)) {
    const passphrase = await passphraseOf(file);
    if (passphrase === undefined) {
      return refuse(
        file,
        "is encrypted and no passphrase was given. Put it into GLOVEBOX_SSH_PASSPHRASE, give a passphrase callback, or load the key into an agent",
      );
    }
    parsed = utils.parseKey(data, passphrase);
    if (parsed instanceof Error) return refuse(file, "cannot be decrypted with the passphrase given. Check the passphrase");
  }
  if (parsed instanceof Error) {
    return refuse(file, "is not a private key in a format that can be read (OpenSSH or PEM). Convert it with ssh-keygen -p");
  }
  const key: ParsedKey | undefined = Array.isArray(parsed) ? parsed[0] : parsed;
  if (!key?.isPrivateKey()) return refuse(file, "is a public key. Name the private key, the file without .pub");
  return key;
}

/** The public key blob that belongs to a private key file, from the `.pub` file beside it. */
export async function readPublicKey(file: string): Promise<Buffer | undefined> {
  const text = await readFile(`${file}.pub`, "latin1").catch(() => "");
  const encoded = text.trim().split(/[ \t]+/)[1];
  return encoded === undefined ? undefined : Buffer.from(encoded, "base64");
}

async function readKeyFile(file: string): Promise<Buffer> {
  let handle: FileHandle | undefined;
  try {
    // Without O_NONBLOCK a FIFO would hold us for ever.
    handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const facts = await handle.stat();
    if (!facts.isFile()) return refuse(file, "is not a regular file. Name a private key file");
    if (facts.size > MAX_KEY_BYTES) return refuse(file, `is ${facts.size} bytes large, which no private key is. Name a private key file`);
    if ((facts.mode & 0o077) !== 0) {
      return refuse(file, `may be read by others (mode ${(facts.mode & 0o777).toString(8).padStart(4, "0")}). Run chmod 600 on it`);
    }
    return await handle.readFile();
  } catch (error) {
    if (error instanceof GloveboxError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    return refuse(file, code === "ENOENT" ? "does not exist. Check the path" : `cannot be read (${code}). Check its permissions`);
  } finally {
    await handle?.close();
  }
}

function refuse(file: string, what: string): never {
  throw new GloveboxError("auth_failed", `The key file ${file} ${what}.`, { retrySafe: true, details: { keyFile: file } });
}
