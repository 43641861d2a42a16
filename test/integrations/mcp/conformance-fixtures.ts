import {
  type AgentTool,
  type BeforeToolCall,
  createToolRegistry,
  type JsonSchema,
  type ToolRegistry,
  textResult,
} from "../../../src/index.js";
import { tool } from "./fixtures.js";

/** A dot of one pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

/** The schema that the suite wants to find again in the listing, word for word. */
const SCHEMA_2020_12 = JSON.parse(`{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "$defs": {
    "address": { "$anchor": "addressDef", "type": "object", "properties": { "street": { "type": "string" }, "city": { "type": "string" } } }
  },
  "properties": {
    "name": { "type": "string" },
    "address": { "$ref": "#/$defs/address" },
    "contactMethod": { "type": "string", "enum": ["phone", "email"] },
    "phone": { "type": "string" },
    "email": { "type": "string" }
  },
  "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
  "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
  "then": { "required": ["phone"] },
  "else": { "required": ["email"] },
  "additionalProperties": false
}`) as JsonSchema;

/** Tools that put a question to a person before they run. */
const ASKING = ["elicitation", "request_state", "multi_round", "tampered_state"].map((name) => `test_input_required_result_${name}`);

/** The tools that the official conformance suite calls by name, as far as tools of ours can do what it asks of them. */
export function conformanceTools(): ToolRegistry {
  const registry = createToolRegistry([
    tool("test_simple_text", async () => textResult("This is a simple text response for testing.")),
    tool("test_image_content", async () => ({ content: [{ type: "image", data: PNG, mimeType: "image/png" }], isError: false })),
    tool("test_error_handling", async () => {
      throw new Error("This tool intentionally returns an error for testing");
    }),
    tool("test_tool_with_progress", async (_given, { onUpdate }) => {
      for (const step of ["0 of 100", "50 of 100", "100 of 100"]) {
        onUpdate(textResult(step));
        await new Promise((resolve) => setTimeout(resolve, 250));
      }
      return textResult("done");
    }),
    ...ASKING.map((name) => tool(name, async () => textResult("Hello!"))),
  ]);
  const described: AgentTool = { ...tool("json_schema_2020_12_tool", async () => textResult("x")), parameters: SCHEMA_2020_12 };
  registry.register(described);
  return registry;
}

/** Each asks; the one that is about several rounds asks twice. */
export const askBefore: readonly BeforeToolCall[] = [
  ({ call }) => (ASKING.includes(call.name) ? { ask: "May it run?" } : undefined),
  ({ call }) => (call.name.endsWith("multi_round") ? { ask: "Are you sure?" } : undefined),
];
