import { local } from "../../../adapters/local/index.js";
import { openEnvironment } from "../../../src/environment.js";
import { createTools } from "../../../src/tools/index.js";

/*
 * Some writers of one process, each inserting unique tokens through the edit tool: ROOT WHO WRITERS EDITS ALIASES (JSON).
 * Prints the tokens that were acknowledged, by file.
 */
const [root = "", who = "", writers = "0", edits = "0", aliases = "[]"] = process.argv.slice(2);
const names = JSON.parse(aliases) as readonly (readonly string[])[];
const environment = await openEnvironment(local(root));
const [edit] = createTools(environment, { names: ["edit"] });
const acknowledged: (readonly [file: number, token: string])[] = [];

async function attempt(parameters: unknown, id: string): Promise<boolean> {
  try {
    const result = await edit?.execute(parameters, { id, signal: new AbortController().signal, onUpdate() {} });
    if (result?.isError === false) return true;
    throw new Error(JSON.stringify(result));
  } catch (error) {
    if ((error as { readonly code?: string }).code !== "conflict") throw error;
    return false;
  }
}

async function write(writer: number): Promise<void> {
  for (let count = 0; count < Number(edits); count += 1) {
    const file = (writer + count) % names.length;
    const paths = names[file] ?? [];
    const path = paths[(writer * 7 + count) % paths.length];
    const token = `<${who}${writer}-${String(count).padStart(4, "0")}>`;
    const parameters = { path, edits: [{ oldText: "END", newText: `${token}\nEND` }] };
    while (!(await attempt(parameters, token))) {
      // Others were quicker, five times in a row.
    }
    acknowledged.push([file, token]);
  }
}

await Promise.all(Array.from({ length: Number(writers) }, (_, writer) => write(writer)));
await environment.close();
process.stdout.write(JSON.stringify(acknowledged));
