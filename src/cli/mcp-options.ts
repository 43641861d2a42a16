import { type BashTimeout, DEFAULT_BASH_TIMEOUT } from "../integrations/mcp/index.js";
import { type ToolName, toolNames } from "../tools/index.js";
import { UsageError } from "./output.js";

/** The command's options as commander hands them over. */
export interface McpOptions {
  readonly target?: readonly string[];
  readonly http?: string | true;
  readonly tools?: string;
  readonly readOnly?: boolean;
  readonly bashTimeout?: string;
  readonly policy?: string;
  readonly tokenFile?: string;
  readonly allowHost?: readonly string[];
  readonly allowOrigin?: readonly string[];
  /** False with --no-structured. */
  readonly structured?: boolean;
  readonly audit?: string;
  readonly fleet?: string;
  readonly host?: readonly string[];
  readonly image?: string;
  readonly sandbox?: string;
  readonly warm?: string;
  readonly caps?: string;
  readonly clocks?: string;
}

export interface NamedUrl {
  /** Undefined for the only target, given without one. */
  readonly name: string | undefined;
  readonly url: string;
}

/** `URL`, or `name=URL` as often as there are targets. There is no default: nothing runs where nobody said it should. */
export function targetsOf(given: readonly string[] | undefined, fallback: string | undefined): readonly NamedUrl[] {
  const texts = given ?? (fallback ? [fallback] : []);
  if (texts.length === 0) {
    throw new UsageError("no target: give --target URL (local:. for this directory), or --target NAME=URL several times");
  }
  const targets = texts.map((text): NamedUrl => {
    const [, name, url] = /^([A-Za-z0-9][A-Za-z0-9._-]*)=(.+)$/s.exec(text) ?? [];
    return url === undefined ? { name: undefined, url: text } : { name, url };
  });
  if (targets.length > 1 && targets.some(({ name }) => name === undefined)) {
    throw new UsageError(
      "several targets need names, so that a call can say which it is for: --target web=docker://web/srv --target box=ssh://box/srv",
    );
  }
  const names = targets.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new UsageError(`two targets are named ${twice}`);
  return targets;
}

export function toolsOf(list: string | undefined): readonly ToolName[] | undefined {
  if (list === undefined) return undefined;
  const names = list.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !(toolNames as readonly string[]).includes(name));
  if (unknown !== undefined) throw new UsageError(`--tools takes some of ${toolNames.join(",")}, not ${JSON.stringify(unknown)}`);
  return [...new Set(names)] as readonly ToolName[];
}

/** `SECONDS` for both, or `DEFAULT,MAXIMUM`. */
export function bashTimeoutOf(text: string | undefined): BashTimeout {
  if (text === undefined) return DEFAULT_BASH_TIMEOUT;
  const [, first = "", second = first] = /^(\d+(?:\.\d+)?)(?:,(\d+(?:\.\d+)?))?$/.exec(text) ?? [];
  const [defaultSeconds, maximumSeconds] = [Number(first), Number(second)];
  if (first === "" || defaultSeconds <= 0 || maximumSeconds < defaultSeconds || maximumSeconds > 2_000_000) {
    throw new UsageError(
      `--bash-timeout takes seconds as DEFAULT,MAXIMUM, the maximum no smaller than the default, not ${JSON.stringify(text)}`,
    );
  }
  return { defaultSeconds, maximumSeconds };
}

const DEFAULT_PORT = 7411;

/** `HOST:PORT`, `PORT`, `[::1]:PORT`; without a value, this machine's own address. */
export function addressOf(text: string | true): { readonly host: string; readonly port: number } {
  if (text === true) return { host: "127.0.0.1", port: DEFAULT_PORT };
  const [, host = "127.0.0.1", digits = ""] = /^(?:(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+):)?(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === "" || port > 65_535)
    throw new UsageError(`--http takes HOST:PORT, like 127.0.0.1:${DEFAULT_PORT}, not ${JSON.stringify(text)}`);
  return { host, port };
}
