import { once } from "node:events";
import { PassThrough } from "node:stream";
import type Docker from "dockerode";

/** One `docker exec` through dockerode: create, start, read to the end, inspect. What most platforms do for each call. */
export async function execPerCall(container: Docker.Container, argv: readonly string[], stdin?: Uint8Array): Promise<Buffer> {
  const exec = await container.exec({ Cmd: [...argv], AttachStdin: stdin !== undefined, AttachStdout: true, AttachStderr: true });
  const stream = await exec.start({ hijack: true, stdin: stdin !== undefined });
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const chunks: Buffer[] = [];
  stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  stderr.resume();
  container.modem.demuxStream(stream, stdout, stderr);
  if (stdin !== undefined) stream.end(stdin);
  await once(stream, "end");
  const { ExitCode } = await exec.inspect();
  if (ExitCode !== 0) throw new Error(`exec exited ${ExitCode}`);
  return Buffer.concat(chunks);
}

/** A long-lived shell without promises: no hash, lock, mode, length check or special-file refusal. One request at a time. */
export interface NaiveLane {
  request(script: string, payload?: Uint8Array): Promise<Buffer>;
  close(): void;
}

export async function openNaiveLane(container: Docker.Container): Promise<NaiveLane> {
  const loop = 'while IFS= read -r l; do eval "$l"; printf "\\n@@done@@\\n"; done';
  const exec = await container.exec({ Cmd: ["sh", "-c", loop], AttachStdin: true, AttachStdout: true, AttachStderr: true });
  const stream = await exec.start({ hijack: true, stdin: true });
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  stderr.resume();
  container.modem.demuxStream(stream, stdout, stderr);
  const mark = Buffer.from("\n@@done@@\n");
  let held = Buffer.alloc(0);
  let settle: ((answer: Buffer) => void) | undefined;
  stdout.on("data", (chunk: Buffer) => {
    held = Buffer.concat([held, chunk]);
    if (held.length < mark.length || !held.subarray(-mark.length).equals(mark)) return;
    settle?.(held.subarray(0, -mark.length));
    held = Buffer.alloc(0);
  });
  return {
    request: (script, payload) =>
      new Promise((resolve) => {
        settle = resolve;
        stream.write(`${script}\n`);
        if (payload !== undefined) stream.write(payload);
      }),
    close: () => stream.destroy(),
  };
}
