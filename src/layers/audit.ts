import { GloveboxError } from "../contract/errors.js";
import type { Layer, VerbCall } from "../contract/target.js";
import { intercept } from "./intercept.js";
import { createRedactor } from "./redact.js";

/** Where the lines go: each is whole, ends in a line feed, and is to be appended. */
export interface AuditSink {
  write(line: string): void | Promise<void>;
}

export interface AuditOptions {
  /** Values that must not appear in any line, in any of their usual encodings. See `createRedactor`. */
  readonly secrets?: readonly string[];
}

/** Longer commands and patterns are cut, and say so. */
const MAX_TEXT_LENGTH = 16 * 1024;

/**
 * One JSON line per event. Each call ends in one that says how it came out; a write or a command also begins with one, and
 * does not happen if that line cannot be written. Contents and output are never in them.
 */
export function audit(sink: AuditSink, { secrets = [] }: AuditOptions = {}): Layer {
  const redact = createRedactor(secrets);
  const write = async (event: Readonly<Record<string, unknown>>): Promise<void> => {
    const line = JSON.stringify(event, (_key, value: unknown) => (typeof value === "string" ? cut(redact(value)) : value));
    await sink.write(`${line.replace(CONTROLS, escaped)}\n`);
  };
  return (inner) => {
    let calls = 0;
    return intercept(async (call, next) => {
      calls += 1;
      const facts = { call: calls, target: inner.label, ...describe(call) };
      if (call.verb === "exec" || call.verb === "writeFile") await write({ event: "start", time: now(), ...facts }).catch(refuse);
      const startedMs = performance.now();
      const end = async (outcome: Readonly<Record<string, unknown>>): Promise<void> => {
        const durationMs = Math.round(performance.now() - startedMs);
        // What was done is done: its result must not be lost with the line.
        await write({ event: "end", time: now(), ...facts, ...outcome, durationMs }).catch(() => undefined);
      };
      try {
        const result = await next();
        await end({ outcome: "ok", ...exitOf(result) });
        return result;
      } catch (error) {
        await end(
          error instanceof GloveboxError
            ? { outcome: error.code, message: error.message }
            : { outcome: "unexpected", message: String(error) },
        );
        throw error;
      }
    })(inner);
  };
}

/** Left alone by JSON, but not by terminals and log viewers: DEL, C1, line separators, changes of direction. */
const CONTROLS = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function cut(text: string): string {
  return text.length <= MAX_TEXT_LENGTH ? text : `${text.slice(0, MAX_TEXT_LENGTH)}… (${text.length - MAX_TEXT_LENGTH} more characters)`;
}

function describe({ verb, path, text, bytes }: VerbCall): Readonly<Record<string, unknown>> {
  return { verb, path, text, bytes };
}

function exitOf(result: unknown): Readonly<Record<string, unknown>> {
  if (typeof result !== "object" || result === null || !("exitCode" in result || "signal" in result)) return {};
  const { exitCode, signal } = result as { exitCode?: unknown; signal?: unknown };
  return { exitCode, signal };
}

function now(): string {
  return new Date().toISOString();
}

function refuse(cause: unknown): never {
  throw new GloveboxError(
    "unexpected",
    "Nothing was done, because it could not be recorded in the audit log. Have the log's owner see to it.",
    {
      retrySafe: true,
      cause,
    },
  );
}
