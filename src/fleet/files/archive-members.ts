import { GloveboxError } from "../../contract/errors.js";

/** What a seed brings: regular files and directories, nothing else. */
export type Member =
  | { readonly kind: "directory"; readonly path: string }
  | {
      readonly kind: "file";
      /** Relative, `/` between components, without `.`, `..` and empty ones. */
      readonly path: string;
      /** Bytes that `content` will have. */
      readonly size: number;
      /** Of a mode, this is all that is kept. */
      readonly executable: boolean;
      /** To be read to its end before the next member is asked for. */
      readonly content: AsyncIterable<Uint8Array>;
    };

/** Bounds of a seed, each `too_large` beyond it. */
export interface SeedLimits {
  /** Files and directories. Default 100,000: twice what a large node_modules has. */
  readonly maxFiles?: number;
  /** Bytes when unpacked, an archive's own headers among them. Default 512 MiB, the size of a workspace in memory. */
  readonly maxBytes?: number;
  /** Bytes of a path. Default 1,024: the kernel takes 4,096, and the workspace's own path goes before it. */
  readonly maxPathBytes?: number;
  /** Unpacked by packed bytes, once 10 MiB are unpacked. Default 200: source text has 3 to 10, logs up to 100, a bomb 1,000. */
  readonly maxRatio?: number;
}

/** The kernel's bound for one component. */
const MAX_COMPONENT_BYTES = 255;

export const DEFAULT_LIMITS: Required<SeedLimits> = { maxFiles: 100_000, maxBytes: 512 * 1024 ** 2, maxPathBytes: 1_024, maxRatio: 200 };

export interface MemberCheck {
  /**
   * The name as a clean relative path; "" for the root itself. Throws `invalid_argument` for one that leads elsewhere, is no
   * text, or was there before in another sense, and `too_large`.
   */
  admit(name: string, kind: Member["kind"]): string;
}

/** Checks names in the order in which they come. */
export function createMemberCheck({ maxFiles, maxPathBytes }: Required<SeedLimits>): MemberCheck {
  const kinds = new Map<string, Member["kind"]>();

  function add(path: string, kind: Member["kind"]): void {
    const before = kinds.get(path);
    if (before === undefined) {
      if (kinds.size >= maxFiles) throw tooLarge(`has more than ${maxFiles} files and directories`, "maxFiles", maxFiles);
      kinds.set(path, kind);
    } else if (before === "file" || kind === "file") {
      throw hostile(path, "comes twice, or both as a file and as a directory");
    }
  }

  return {
    admit(name, kind) {
      const parts = name.split("/");
      if (name === "" || name.startsWith("/")) throw hostile(name, "is empty or absolute");
      if (parts.includes("..")) throw hostile(name, 'leads out of its directory by ".."');
      // What is not UTF-8 was decoded to this mark.
      if (/[\0\ufffd]/.test(name) || !name.isWellFormed()) throw hostile(name, "holds NUL, or bytes that are not UTF-8");
      if (Buffer.byteLength(name) > maxPathBytes)
        throw tooLarge(`has a path longer than ${maxPathBytes} bytes`, "maxPathBytes", maxPathBytes);
      const clean = parts.filter((part) => part !== "" && part !== ".");
      if (clean.some((part) => Buffer.byteLength(part) > MAX_COMPONENT_BYTES)) {
        throw tooLarge(`has a name longer than ${MAX_COMPONENT_BYTES} bytes`, "maxPathBytes", maxPathBytes);
      }
      if (clean.length === 0) {
        if (kind === "file") throw hostile(name, "names no file");
        return "";
      }
      for (let depth = 1; depth < clean.length; depth += 1) add(clean.slice(0, depth).join("/"), "directory");
      const path = clean.join("/");
      add(path, kind);
      return path;
    },
  };
}

export function hostile(name: string, why: string): GloveboxError {
  const shown = JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);
  return new GloveboxError("invalid_argument", `The seed is refused: its member ${shown} ${why}. Nothing of it was kept.`, {
    retrySafe: true,
    details: { member: name.slice(0, 1_024) },
  });
}

export function tooLarge(what: string, limit: keyof SeedLimits, value: number): GloveboxError {
  return new GloveboxError("too_large", `The seed is refused: it ${what}. Bring less, or raise the limit ${limit}.`, {
    retrySafe: true,
    details: { limit, value },
  });
}
