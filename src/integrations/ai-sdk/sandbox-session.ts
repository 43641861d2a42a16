import { type Entry, type Environment, GloveboxError, withFileMutationQueue } from "../../index.js";
import { readSlices } from "../read-slices.js";
import { exitCodeOf, startProcess } from "./sandbox-process.js";
import type { AiSdkCommandOptions, AiSdkSandboxSession } from "./sandbox-types.js";

/** What `run` collects of stdout and of stderr; a command that says more is killed. `spawn` streams without a limit. */
const MAX_RUN_BYTES = 64 * 1024 * 1024;

/**
 * An environment as the AI SDK's sandbox session, for `experimental_sandbox` and for harnesses. What is not there reads as
 * null; writes are atomic and wait for their turn among all writers of the file; an abort settles once everything that the
 * command started is dead, with the signal's reason.
 */
export function toAiSdkSandbox(environment: Environment): AiSdkSandboxSession {
  const readBinaryFile: AiSdkSandboxSession["readBinaryFile"] = async ({ path, abortSignal: signal }) =>
    await orNull(signal, async () => (await environment.readFile(path, { signal })).data);
  const writeBinaryFile: AiSdkSandboxSession["writeBinaryFile"] = async ({ path, content, abortSignal: signal }) =>
    await withReason(signal, async () => {
      await withFileMutationQueue(environment, path, () => environment.writeFile(path, content, { signal }), { signal });
    });
  return {
    description: describe(environment),
    readFile: async ({ path, abortSignal: signal }) =>
      await orNull(signal, async () => {
        const slices = readSlices(environment, path, signal);
        // Whether the file is there is known when its first slice is.
        const first = await slices.next();
        return toStream(first, slices);
      }),
    readBinaryFile,
    async readTextFile({ path, encoding = "utf-8", startLine, endLine, abortSignal }) {
      const data = await readBinaryFile({ path, abortSignal });
      return data === null ? null : pickLines(Buffer.from(data).toString(checkEncoding(encoding)), startLine, endLine);
    },
    writeFile: async ({ path, content, abortSignal }) => await writeBinaryFile({ path, content: await collect(content), abortSignal }),
    writeBinaryFile,
    writeTextFile: async ({ path, content, encoding = "utf-8", abortSignal }) =>
      await writeBinaryFile({ path, content: Buffer.from(content, checkEncoding(encoding)), abortSignal }),
    stat: async ({ path, abortSignal: signal }) =>
      await orNull(signal, async () => {
        const { kind, size } = await environment.stat(path, { signal });
        return { type: kind === "file" || kind === "directory" ? kind : "other", size };
      }),
    listDirectory: async ({ path, abortSignal: signal }) =>
      await orNull(signal, async () => (await environment.readdir(path, { signal })).map(toEntry)),
    deleteFile: async ({ path, abortSignal }) => await withReason(abortSignal, () => deleteFile(environment, path, abortSignal)),
    spawn: (async (options: AiSdkCommandOptions & { readonly stdin?: boolean }) => {
      if (options.stdin === true) throw noStdin();
      options.abortSignal?.throwIfAborted();
      return startProcess(environment, options);
    }) as AiSdkSandboxSession["spawn"],
    run: async (options) => await withReason(options.abortSignal, () => run(environment, options)),
  };
}

function describe({ label, cwd, capabilities: { exec, shell = "a shell" } }: Environment): string {
  return `Sandbox ${label}. Working directory: ${cwd}. ${exec ? `Commands run with ${shell}.` : "No commands can be run."}`;
}

async function run(environment: Environment, { command, workingDirectory: cwd, env, abortSignal: signal }: AiSdkCommandOptions) {
  const output = { stdout: new Collector(), stderr: new Collector() };
  const result = await environment.exec(command, { cwd, env, signal, onOutput: (chunk, stream) => output[stream].add(chunk) });
  return { exitCode: exitCodeOf(result), stdout: output.stdout.text(), stderr: output.stderr.text() };
}

class Collector {
  readonly #chunks: Uint8Array[] = [];
  #bytes = 0;

  add(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_RUN_BYTES) {
      const message = `The command was killed: it printed more than ${MAX_RUN_BYTES} bytes. Send its output to a file, or use spawn, which streams it.`;
      throw new GloveboxError("too_large", message);
    }
    this.#chunks.push(chunk);
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}

/** Printed by the script below, where an exit code could be the shell's. */
const DELETED = "deleted";
const ABSENT = "absent";
/** There is no verb for it. The path comes as a variable, so that nothing in it is read as shell text. */
const DELETE_SCRIPT = `if [ ! -e "$GLOVEBOX_PATH" ] && [ ! -L "$GLOVEBOX_PATH" ]; then echo ${ABSENT}; else rm -- "$GLOVEBOX_PATH" && echo ${DELETED}; fi`;

async function deleteFile(environment: Environment, path: string, signal: AbortSignal | undefined): Promise<boolean> {
  const slash = path.lastIndexOf("/");
  const name = path.slice(slash + 1);
  // The directory is looked up by a file verb, which stays inside the root.
  const directory = await environment.realpath(slash === -1 ? "." : path.slice(0, slash) || "/", { signal });
  if (name === "" || name === "." || name === "..") throw notAFile(path);
  const output = { stdout: new Collector(), stderr: new Collector() };
  await withFileMutationQueue(
    environment,
    path,
    () =>
      environment.exec(DELETE_SCRIPT, {
        cwd: "/",
        env: { GLOVEBOX_PATH: `${directory}/${name}` },
        signal,
        onOutput: (chunk, stream) => output[stream].add(chunk),
      }),
    { signal },
  );
  const said = output.stdout.text().trim();
  if (said === DELETED || said === ABSENT) return said === DELETED;
  const { kind } = await environment.stat(path, { signal });
  throw kind === "directory" ? notAFile(path) : notDeleted(path, output.stderr.text().trim());
}

function toEntry({ name, kind }: Entry): { name: string; type: "file" | "directory" | "symlink" | "other" } {
  return { name, type: kind === "file" || kind === "directory" || kind === "symlink" ? kind : "other" };
}

function toStream(first: IteratorResult<Uint8Array, unknown>, rest: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (first.done) controller.close();
        else controller.enqueue(first.value);
      },
      async pull(controller) {
        const { done, value } = await rest.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await rest.return(undefined);
      },
    },
    { highWaterMark: 1 },
  );
}

async function collect(stream: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** As the AI SDK does it: the ending that the text has most claim to divides it, and joins what is left. */
function pickLines(text: string, startLine: number | undefined, endLine: number | undefined): string {
  if (startLine === undefined && endLine === undefined) return text;
  const ending = ["\r\n", "\n", "\r"].find((each) => text.includes(each)) ?? "\n";
  return text
    .split(ending)
    .slice(Math.max(1, startLine ?? 1) - 1, endLine)
    .join(ending);
}

async function orNull<Value>(signal: AbortSignal | undefined, work: () => Promise<Value>): Promise<Value | null> {
  try {
    return await withReason(signal, work);
  } catch (error) {
    if (error instanceof GloveboxError && error.code === "not_found") return null;
    throw error;
  }
}

/** The AI SDK's word for an abort is the signal's reason. */
async function withReason<Value>(signal: AbortSignal | undefined, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    const ended = error instanceof GloveboxError && (error.code === "aborted" || error.code === "timeout");
    throw signal?.aborted && ended ? signal.reason : error;
  }
}

function checkEncoding(encoding: string): BufferEncoding {
  if (Buffer.isEncoding(encoding)) return encoding;
  throw new GloveboxError(
    "invalid_argument",
    `There is no encoding named ${JSON.stringify(encoding)}. Use utf-8, latin1, utf16le or base64.`,
    {
      retrySafe: true,
    },
  );
}

function noStdin(): GloveboxError {
  const message = "A command's standard input cannot be written while it runs. Put the input into a file and redirect it: command < file.";
  return new GloveboxError("unsupported", message, { retrySafe: true });
}

function notAFile(path: string): GloveboxError {
  const message = `${JSON.stringify(path)} is a directory, and only files are deleted. Run rm -r to remove a directory.`;
  return new GloveboxError("is_directory", message, { retrySafe: true, path });
}

function notDeleted(path: string, said: string): GloveboxError {
  return new GloveboxError("permission_denied", `${JSON.stringify(path)} was not deleted: ${said || "rm gave no reason"}.`, { path });
}
