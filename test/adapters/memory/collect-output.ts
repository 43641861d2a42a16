import type { ExecResult } from "../../../src/contract/operations.js";
import type { Environment } from "../../../src/contract/target.js";

/** A command's result with its whole output. */
export async function collectOutput(environment: Environment, command: string): Promise<ExecResult & Record<"stdout" | "stderr", string>> {
  const output = { stdout: "", stderr: "" };
  const result = await environment.exec(command, {
    onOutput(chunk, stream) {
      output[stream] += new TextDecoder().decode(chunk);
    },
  });
  return { ...output, ...result };
}
