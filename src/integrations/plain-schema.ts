import type { JsonSchema } from "../index.js";

/** The host's own copy, to keep or to change, without the symbols that TypeBox leaves in its schemas. */
export function plainSchema(schema: JsonSchema): Record<string, unknown> {
  return JSON.parse(JSON.stringify(schema)) as Record<string, unknown>;
}
