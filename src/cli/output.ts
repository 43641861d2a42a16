import { GloveboxError } from "../contract/errors.js";
import { escapeControls } from "../text/escape.js";
import { EXIT } from "./exit-codes.js";

/** A mistake in how a command was called: exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Writes all of it, waiting while the reader lags. A reader that has gone away ends the process quietly. */
export async function write(stream: NodeJS.WriteStream, data: string | Uint8Array): Promise<void> {
  if (stream.write(data)) return;
  await new Promise<void>((resolve) => stream.once("drain", resolve));
}

export async function writeLine(stream: NodeJS.WriteStream, line: string): Promise<void> {
  await write(stream, `${line}\n`);
}

/** One JSON value on one line, whatever is in it. */
export async function writeJson(value: unknown): Promise<void> {
  await writeLine(process.stdout, JSON.stringify(value));
}

export function useColour(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY === true && !process.env.NO_COLOR;
}

/** Says what went wrong on standard error and returns the exit code for it. */
export function reportFailure(error: unknown, otherwise: number = EXIT.isError): number {
  if (error instanceof UsageError) {
    process.stderr.write(`glovebox: ${escapeControls(error.message)}\n`);
    return EXIT.usage;
  }
  if (error instanceof GloveboxError) {
    process.stderr.write(`glovebox: ${escapeControls(error.message)} [${error.code}]\n`);
    return error.code === "invalid_argument" && error.verb === undefined && otherwise === EXIT.isError ? EXIT.usage : otherwise;
  }
  process.stderr.write(`glovebox: ${escapeControls(error instanceof Error ? (error.stack ?? error.message) : String(error))}\n`);
  return otherwise;
}

for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(EXIT.done);
    throw error;
  });
}
