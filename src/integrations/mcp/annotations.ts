import type { ToolAnnotations } from "@modelcontextprotocol/server";
import type { AgentTool } from "../../index.js";

/** Tools that overwrite with what they are given: the same call again changes nothing more. */
const IDEMPOTENT: ReadonlySet<string> = new Set(["write"]);

/** MCP's hints for a tool, from what it does to its target. All four are stated: their defaults assume the worst. */
export function annotationsOf({ name, label, effect }: Pick<AgentTool, "name" | "label" | "effect">): ToolAnnotations {
  const reads = effect === "read";
  return {
    title: label,
    readOnlyHint: reads,
    destructiveHint: !reads,
    idempotentHint: reads || IDEMPOTENT.has(name),
    openWorldHint: effect === "execute",
  };
}
