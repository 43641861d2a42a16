import { dirname, join } from "node:path/posix";
import { abortError, GloveboxError } from "../../contract/errors.js";
import type { Environment } from "../../contract/target.js";
import { eachOf } from "../reconcile.js";
import type { Member } from "./archive-members.js";
import { TAR_END, tarHeader, tarPadding } from "./archive-write.js";
import { failed, runInSandbox } from "./seed-command.js";
import { freshPlace, type Place } from "./seed-place.js";

/** Where members go. */
export interface SeedSink {
  add(member: Member): Promise<void>;
  /** Makes them be there, all at once as far as the target can. */
  finish(): Promise<void>;
  /** Takes away what came so far. Never rejects. */
  discard(): Promise<void>;
}

/** What travels at once. The sandbox keeps that much in its /tmp meanwhile. */
const BATCH_BYTES = 4 * 1024 ** 2;
const WRITES_AT_ONCE = 8;

/**
 * Unpacks by the sandbox's own tar where there is one, some thousand members for each round trip; else writes file by file,
 * once all have come: a target without commands can take nothing back.
 */
export async function seedSink(environment: Environment, into: string, signal: AbortSignal | undefined): Promise<SeedSink> {
  const { exec, processes } = environment.capabilities;
  const place = exec && processes ? await freshPlace(environment, into, signal) : undefined;
  if (place?.hasTar) return tarSink(environment, place, signal);
  await place?.remove();
  return verbSink(environment, into, signal);
}

function tarSink(environment: Environment, place: Place, signal: AbortSignal | undefined): SeedSink {
  let batch: Uint8Array[] = [];
  let batchBytes = 0;
  let files = 0;
  const push = (...parts: readonly Uint8Array[]): void => {
    batch.push(...parts);
    for (const { byteLength } of parts) batchBytes += byteLength;
  };

  async function run(script: string, env: Readonly<Record<string, string>>, stdin: Uint8Array): Promise<void> {
    const end = await runInSandbox(environment, script, { env, stdin, signal });
    if (end.exitCode !== 0) throw failed("The seed", end);
  }

  async function flush(): Promise<void> {
    if (batchBytes === 0) return;
    const stdin = Buffer.concat([...batch, TAR_END]);
    batch = [];
    batchBytes = 0;
    await run('umask 022; tar -xomf - -C "$FRESH"', { FRESH: place.directory }, stdin);
  }

  /** A file longer than a batch, piece by piece. */
  async function append({ path, executable, content }: Extract<Member, { kind: "file" }>): Promise<void> {
    await flush();
    const file = join(place.directory, path);
    const env = { FILE: file, PARENT: dirname(file), MODE: executable ? "755" : "644" };
    const write = async (stdin: Uint8Array): Promise<void> =>
      await run('umask 022; mkdir -p -- "$PARENT" && cat >>"$FILE" && chmod "$MODE" -- "$FILE"', env, stdin);
    let parts: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of content) {
      parts.push(Uint8Array.from(chunk));
      bytes += chunk.byteLength;
      if (bytes < BATCH_BYTES) continue;
      await write(Buffer.concat(parts));
      parts = [];
      bytes = 0;
    }
    if (bytes > 0) await write(Buffer.concat(parts));
  }

  return {
    async add(member) {
      if (signal?.aborted) throw abortError(signal, { retrySafe: true });
      if (member.kind === "directory") push(tarHeader(member.path, { size: 0, mode: 0o755, directory: true }));
      else {
        files += 1;
        const { path, size, executable } = member;
        if (size > BATCH_BYTES) return await append(member);
        push(tarHeader(path, { size, mode: executable ? 0o755 : 0o644, directory: false }), await contentOf(member), tarPadding(size));
      }
      if (batchBytes >= BATCH_BYTES) await flush();
    },
    async finish() {
      await flush();
      await place.settle(files);
    },
    discard: () => place.remove(),
  };
}

function verbSink(environment: Environment, into: string, signal: AbortSignal | undefined): SeedSink {
  const files = new Map<string, Uint8Array>();
  return {
    async add(member) {
      if (signal?.aborted) throw abortError(signal, { retrySafe: true });
      if (member.kind === "file") files.set(member.path, await contentOf(member));
    },
    async finish() {
      await eachOf([...files], WRITES_AT_ONCE, async ([path, data]) => {
        try {
          await environment.writeFile(join(into, path), data, { ifMatch: null, ...(signal === undefined ? {} : { signal }) });
        } catch (error) {
          if (!(error instanceof GloveboxError) || error.code !== "conflict") throw error;
          throw new GloveboxError(
            "exists",
            `The seed has ${JSON.stringify(path)}, and it is there already. Seed an empty directory (into).`,
            {
              retrySafe: true,
              cause: error,
            },
          );
        }
      });
    },
    async discard() {
      files.clear();
    },
  };
}

async function contentOf({ path, size, content }: Extract<Member, { kind: "file" }>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  const data = Buffer.concat(chunks);
  if (data.byteLength === size) return data;
  throw new GloveboxError("conflict", `${JSON.stringify(path)} changed while it was read. Try again when nobody writes it.`, {
    retrySafe: true,
  });
}
