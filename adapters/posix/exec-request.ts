import { GloveboxError } from "../../src/contract/errors.js";
import type { ExecOptions } from "../../src/contract/operations.js";
import { quote, quoteLine } from "./quote.js";

/** Longer commands travel behind the request: a shell reads a line byte by byte, and an argument holds 128 KiB at most. */
const MAX_COMMAND_BYTES = 8 * 1024;
const MAX_VALUE_BYTES = 128 * 1024 - 256;
const BLOCK = 65_536;

export interface RequestContext {
  readonly cwd: string;
  /** Added to every command's environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs the commands. */
  readonly commandShell: string;
  /** How `dd` reads exactly so many bytes: `TargetFacts.dd`. */
  readonly dd: string;
  /** What the files of this connection in our directory on the target begin with. */
  readonly filePrefix: string;
  readonly countOutOfMemory: boolean;
}

export interface ExecRequest {
  readonly line: string;
  /** Follows the line: a long command, then stdin. */
  readonly payload: readonly Uint8Array[];
}

/** What the runner of a spare shell does (scripts/spare.ts): one line, and bytes that it takes off the stream first. */
export function composeRequest(context: RequestContext, command: string, { cwd, env, stdin }: ExecOptions): ExecRequest {
  const text = Buffer.from(command);
  const long = text.byteLength > MAX_COMMAND_BYTES;
  const parts = [`cd -P -- ${quoteLine(cwd ?? context.cwd)} 2>/dev/null || no cwd`];
  const payload: Uint8Array[] = [];
  if (long) {
    parts.push(...takeFile(context, "3", text.byteLength));
    payload.push(text);
  }
  if (stdin !== undefined && stdin.byteLength > 0) {
    parts.push(...takeFile(context, "9", stdin.byteLength));
    payload.push(stdin);
  } else {
    parts.push("exec 9</dev/null");
  }
  parts.push(`begin ${context.countOutOfMemory ? 1 : "''"}`);
  const program = long ? `${quoteLine('set -- "$(cat <&3; echo .)"; exec 3<&-; eval "shift; ${1%.}"')}` : quoteLine(command);
  parts.push(`exec ${environment({ ...context.env, ...env })}${context.commandShell} -c ${program} <&9 7>&- 8>&- 9<&-`);
  return { line: parts.join("; "), payload };
}

/** So many bytes from the stream into a file that has no name any more when they are read, on this descriptor. */
function takeFile({ dd, filePrefix }: RequestContext, descriptor: string, bytes: number): readonly string[] {
  const blocks = Math.floor(bytes / BLOCK);
  const rest = bytes - blocks * BLOCK;
  const reads = dd.includes("fullblock")
    ? [
        ...(blocks > 0 ? [`dd bs=${BLOCK} count=${blocks} iflag=fullblock`] : []),
        ...(rest > 0 ? [`dd bs=${rest} count=1 iflag=fullblock`] : []),
      ]
    : [`dd ${dd.replace(/count=\d+/, `count=${bytes}`)}`];
  return [
    `f_=${quote(filePrefix)}$$-${descriptor}`,
    `{ ${reads.join(" && ")}; } 2>/dev/null >"$f_" && [ "$(($(wc -c <"$f_")))" = ${bytes} ] || { rm -f -- "$f_"; no input; }`,
    `exec ${descriptor}<"$f_"`,
    'rm -f -- "$f_"',
  ];
}

function environment(env: Readonly<Record<string, string>>): string {
  const entries = Object.entries(env);
  if (entries.length === 0) return "";
  const words = entries.map(([name, value]) => {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      throw invalid(`${JSON.stringify(name)} cannot be the name of an environment variable: use letters, digits and "_".`);
    }
    if (Buffer.byteLength(value) > MAX_VALUE_BYTES)
      throw invalid(`The value of ${name} is too long for an environment variable: 128 KiB at most. Pass it in a file or on stdin.`);
    return quoteLine(`${name}=${value}`);
  });
  return `env ${words.join(" ")} `;
}

function invalid(message: string): GloveboxError {
  return new GloveboxError("invalid_argument", message, { retrySafe: true });
}
