import type { Duplex } from "node:stream";
import type Docker from "dockerode";
import { currentRun, testLabel } from "../../support/run-identity.js";
import { engineClient } from "../../support/sweep.js";

/** What the adapter's own containers are labelled with in tests, so that the sweep at the end finds those that were left. */
export const testLabels = (): Readonly<Record<string, string>> => ({ [testLabel]: currentRun() });

/** The output of a command in a container, run by the engine with nothing of ours in between; stderr included. */
export async function witness(id: string, script: string, docker: Docker = engineClient()): Promise<string> {
  const exec = await docker.getContainer(id).exec({ Cmd: ["sh", "-c", script], AttachStdout: true, AttachStderr: true });
  const stream = (await exec.start({ hijack: true, stdin: false })) as Duplex;
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  let output = "";
  for (let rest = Buffer.concat(chunks); rest.length >= 8; ) {
    const length = rest.readUInt32BE(4);
    output += rest.subarray(8, 8 + length).toString();
    rest = rest.subarray(8 + length);
  }
  return output;
}

/** Ids of all containers that bear these labels. */
export async function containersWith(
  labels: Readonly<Record<string, string>>,
  docker: Docker = engineClient(),
): Promise<readonly string[]> {
  const filters = { label: Object.entries(labels).map(([name, value]) => `${name}=${value}`) };
  return (await docker.listContainers({ all: true, filters })).map(({ Id }) => Id);
}

export async function exists(id: string, docker: Docker = engineClient()): Promise<boolean> {
  return await docker
    .getContainer(id)
    .inspect()
    .then(
      () => true,
      () => false,
    );
}

/** How many processes in the container have the text in their command line, as its engine sees them. */
export async function containerProcesses(id: string, text: string, docker: Docker = engineClient()): Promise<number> {
  const { Processes: rows } = (await docker.getContainer(id).top()) as { Processes: readonly (readonly string[])[] };
  return rows.filter((row) => row.at(-1)?.includes(text)).length;
}
