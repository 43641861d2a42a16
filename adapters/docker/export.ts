import { GloveboxError } from "../../src/contract/errors.js";
import type { Engine } from "./engine.js";
import { dockerTransport } from "./transport.js";

export interface ExportOptions {
  /** The full id of a running container. */
  readonly id: string;
  readonly user: string;
  readonly directory: string;
}

const MAX_MESSAGE_BYTES = 2_000;

/**
 * A tar stream of the directory's content, made by the container's own tar: the engine's archive calls do not see tmpfs and
 * run as root. The stream throws at its end unless tar ended well, so a short one is never taken for a whole one; leaving it
 * early ends tar.
 */
export async function exportWorkspace(engine: Engine, { id, user, directory }: ExportOptions): Promise<AsyncIterable<Uint8Array>> {
  const transport = dockerTransport({ engine, containerId: id, label: `docker:${id.slice(0, 12)}`, user });
  const process = await transport.start(["tar", "-C", directory, "-cf", "-", "."], { purpose: "control" });
  process.stdin.end();
  let message = "";
  process.stderr.on("data", (chunk: Buffer) => {
    if (message.length < MAX_MESSAGE_BYTES) message += chunk.toString();
  });
  async function* read(): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of process.stdout) yield chunk as Buffer;
      const outcome = await process.outcome;
      if (outcome.kind === "lost") throw outcome.error;
      if (outcome.kind === "exited" && outcome.exitCode === 0) return;
      const why = `${outcome.kind === "exited" ? `exit code ${outcome.exitCode}` : outcome.signal}${message === "" ? "" : `: ${message.trim()}`}`;
      throw new GloveboxError(
        "unexpected",
        `The export of ${directory} is not complete: tar ended with ${why}. Discard what came, and try again.`,
      );
    } finally {
      await transport.close();
    }
  }
  return read();
}
