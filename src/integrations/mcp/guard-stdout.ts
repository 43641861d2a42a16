export interface GuardedStdout {
  /** Writes to the real standard output. */
  write(text: string): boolean;
  /** Gives standard output back. */
  restore(): void;
}

let active: GuardedStdout | undefined;

/**
 * Sends to standard error what anyone in this process prints, console and `process.stdout.write` alike, and keeps standard
 * output for the protocol: one stray line there and a client loses the connection. Guarded already: the same guard.
 */
export function guardStdout(): GuardedStdout {
  if (active !== undefined) return active;
  const { stdout, stderr } = process;
  const original = stdout.write;
  const divert = stderr.write.bind(stderr) as typeof stdout.write;
  stdout.write = divert;
  active = {
    write: (text) => original.call(stdout, text),
    restore() {
      if (stdout.write === divert) stdout.write = original;
      active = undefined;
    },
  };
  return active;
}
