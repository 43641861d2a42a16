import { allToolDefinitions } from "../tools/index.js";
import { writeJson, writeLine } from "./output.js";

/** `glovebox tools`: what a model would be told. */
export async function tools(options: { readonly json?: boolean }): Promise<void> {
  const list = Object.values(allToolDefinitions).map(({ name, description, parameters }) => ({ name, description, parameters }));
  if (options.json) return await writeJson(list);
  for (const { name, description, parameters } of list) {
    await writeLine(process.stdout, `${name}\n  ${description}`);
    const required = new Set((parameters.required as readonly string[] | undefined) ?? []);
    for (const [field, schema] of Object.entries(parameters.properties as Record<string, { type?: string; description?: string }>)) {
      await writeLine(process.stdout, `  ${field}${required.has(field) ? "" : "?"} (${schema.type}): ${schema.description ?? ""}`);
    }
    await writeLine(process.stdout, "");
  }
}
