import type { FileEntryWithStats, InputAttributes, OpenMode, SFTPWrapper, Stats } from "ssh2";
import { GloveboxError } from "../../../src/contract/errors.js";
import type { OnLink } from "../member.js";

/** With requests waiting, so long may no answer at all come: a slow link is not a dead server. */
const SILENT_MS = 20_000;

/** What the server said no with: a number and a sentence of the protocol. */
export interface SftpStatus extends Error {
  readonly code: number;
}

export const STATUS = { endOfFile: 1, noSuchFile: 2, permissionDenied: 3, failure: 4, badMessage: 5, unsupported: 8 } as const;

export function isStatus(error: unknown): error is SftpStatus {
  return error instanceof Error && !(error instanceof GloveboxError) && typeof (error as Partial<SftpStatus>).code === "number";
}

/**
 * One SFTP channel. Every request settles: with the answer, with the server's `SftpStatus`, or with a GloveboxError
 * `disconnected` or `timeout`, after which the channel is of no use. Answers come in the order of the requests, so that what is
 * asked without waiting costs one round trip together.
 */
export interface SftpChannel {
  readonly alive: boolean;
  /** Whether the server knows this extension, in its first version. */
  has(extension: string): boolean;
  realpath(path: string): Promise<string>;
  stat(path: string): Promise<Stats>;
  lstat(path: string): Promise<Stats>;
  readlink(path: string): Promise<string>;
  readdir(path: string): Promise<readonly FileEntryWithStats[]>;
  open(path: string, flags: OpenMode, attributes?: InputAttributes): Promise<Buffer>;
  fstat(handle: Buffer): Promise<Stats>;
  /** Less than `length` bytes, or none, only at the end of the file. */
  read(handle: Buffer, position: number, length: number): Promise<Buffer>;
  write(handle: Buffer, data: Uint8Array, position: number): Promise<void>;
  setAttributes(handle: Buffer, attributes: InputAttributes): Promise<void>;
  sync(handle: Buffer): Promise<void>;
  close(handle: Buffer): Promise<void>;
  mkdir(path: string, mode?: number): Promise<void>;
  rmdir(path: string): Promise<void>;
  unlink(path: string): Promise<void>;
  symlink(target: string, path: string): Promise<void>;
  link(existing: string, path: string): Promise<void>;
  /** Replaces what is there. */
  rename(from: string, to: string): Promise<void>;
  /** Bytes that this account can still write there; undefined where the server does not say. */
  freeBytes(path: string): Promise<number | undefined>;
  end(): void;
}

type Done<Value> = (error: unknown, value: Value) => void;

export function sftpChannel({ channel: sftp, gone }: OnLink<SFTPWrapper>, host: string): SftpChannel {
  const pending = new Set<(error: GloveboxError) => void>();
  let dead: GloveboxError | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const die = (reason: GloveboxError): void => {
    if (dead !== undefined) return;
    dead = reason;
    clearTimeout(timer);
    for (const reject of pending) reject(reason);
    pending.clear();
    sftp.end();
  };
  const watch = (): void => {
    clearTimeout(timer);
    if (pending.size > 0) timer = setTimeout(() => die(silent(host)), SILENT_MS);
  };
  sftp.on("error", (error: Error) => die(lost(host, error.message)));
  sftp.on("close", () => die(lost(host, "the server closed it")));
  void gone.then((reason) => die(lost(host, reason.message)));

  function ask<Value>(begin: (done: Done<Value>) => void): Promise<Value> {
    return new Promise((resolve, reject) => {
      if (dead !== undefined) return reject(dead);
      pending.add(reject);
      if (pending.size === 1) watch();
      const done: Done<Value> = (error, value) => {
        if (!pending.delete(reject)) return;
        watch();
        if (!error) resolve(value);
        else if (isStatus(error)) reject(error);
        else {
          die(lost(host, (error as Error).message));
          reject(dead);
        }
      };
      try {
        begin(done);
      } catch (error) {
        // An extension that the server lacks, or a channel that has just ended.
        done(Object.assign(error as Error, { code: STATUS.unsupported }), undefined as Value);
      }
    });
  }

  const tell = (begin: (done: (error?: Error | null) => void) => void): Promise<void> =>
    ask<void>((done) => begin((error) => done(error, undefined)));

  // ssh2 does not tell in its types what the server can do.
  const extensions = (): Readonly<Record<string, string | undefined>> =>
    (sftp as unknown as { readonly _extensions?: Readonly<Record<string, string>> })._extensions ?? {};

  return {
    get alive() {
      return dead === undefined;
    },
    has: (extension) => extensions()[extension] !== undefined,
    realpath: (path) => ask((done) => sftp.realpath(path, done)),
    stat: (path) => ask((done) => sftp.stat(path, done)),
    lstat: (path) => ask((done) => sftp.lstat(path, done)),
    readlink: (path) => ask((done) => sftp.readlink(path, done)),
    readdir: (path) => ask((done) => sftp.readdir(path, done)),
    open: (path, flags, attributes = {}) => ask((done) => sftp.open(path, flags, attributes, done)),
    fstat: (handle) => ask((done) => sftp.fstat(handle, done)),
    async read(handle, position, length) {
      const buffer = Buffer.allocUnsafe(length);
      for (let filled = 0; ; ) {
        if (filled === length) return buffer;
        const from = filled;
        const bytes = await ask<number>((done) => sftp.read(handle, buffer, from, length - from, position + from, done)).catch(atEnd);
        if (bytes === 0) return buffer.subarray(0, filled);
        filled += bytes;
      }
    },
    write: (handle, data, position) =>
      tell((done) => sftp.write(handle, Buffer.from(data.buffer, data.byteOffset, data.byteLength), 0, data.byteLength, position, done)),
    setAttributes: (handle, attributes) => tell((done) => sftp.fsetstat(handle, attributes, done)),
    sync: (handle) => tell((done) => sftp.ext_openssh_fsync(handle, done)),
    close: (handle) => tell((done) => sftp.close(handle, done)),
    mkdir: (path, mode) => tell((done) => sftp.mkdir(path, mode === undefined ? {} : { mode }, done)),
    rmdir: (path) => tell((done) => sftp.rmdir(path, done)),
    unlink: (path) => tell((done) => sftp.unlink(path, done)),
    symlink: (target, path) => tell((done) => sftp.symlink(target, path, done)),
    link: (existing, path) => tell((done) => sftp.ext_openssh_hardlink(existing, path, done)),
    rename: (from, to) => tell((done) => sftp.ext_openssh_rename(from, to, done)),
    async freeBytes(path) {
      const facts = await ask<{ readonly f_bavail?: number; readonly f_frsize?: number }>((done) =>
        sftp.ext_openssh_statvfs(path, done),
      ).catch(() => undefined);
      const { f_bavail: blocks, f_frsize: bytes } = facts ?? {};
      return blocks === undefined || bytes === undefined ? undefined : Number(blocks) * Number(bytes);
    },
    end: () => die(new GloveboxError("gone", `The SFTP channel to ${host} is closed.`, { retrySafe: true })),
  };
}

function atEnd(error: unknown): number {
  if (isStatus(error) && error.code === STATUS.endOfFile) return 0;
  throw error;
}

/** The channel ended under a request. A connection that cannot be made is something else. */
export function isChannelLost(error: unknown): boolean {
  return error instanceof GloveboxError && error.details.channelLost === true;
}

function lost(host: string, why: string): GloveboxError {
  const message = `The SFTP channel to ${host} ended: ${why}. Try again.`;
  return new GloveboxError("disconnected", message, { retrySafe: true, details: { host, channelLost: true } });
}

function silent(host: string): GloveboxError {
  const message = `The SFTP server of ${host} did not answer for ${SILENT_MS / 1000} s. It may be overloaded, or the file system may hang. Try again.`;
  return new GloveboxError("timeout", message, { retrySafe: true, details: { host } });
}
