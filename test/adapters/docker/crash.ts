import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export interface Orphan {
  /** The full id. */
  readonly id: string;
  readonly name: string;
}

export interface CrashOptions {
  readonly labels: Readonly<Record<string, string>>;
  readonly network?: "none" | "isolated";
  readonly count?: number;
  /** DOCKER_HOST of the engine. Default: the tests' own. */
  readonly dockerHost?: string;
}

/** Starts orphan-maker.ts, waits until a command runs in each of its sandboxes, and kills it. */
export async function crashWithSandboxes({ labels, network = "none", count = 1, dockerHost }: CrashOptions): Promise<readonly Orphan[]> {
  const program = fileURLToPath(new URL("./orphan-maker.ts", import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", program, JSON.stringify(labels), network, String(count)], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...(dockerHost === undefined ? {} : { DOCKER_HOST: dockerHost }) },
  });
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString()));
    child.once("exit", (code) => reject(new Error(`the sandboxes' maker ended by itself with ${code}`)));
  });
  child.kill("SIGKILL");
  await once(child, "exit");
  return JSON.parse(line) as readonly Orphan[];
}
