import type { Tool } from "@modelcontextprotocol/server";
import { type AgentTool, GloveboxError, type JsonSchema } from "../../index.js";
import { annotationsOf } from "./annotations.js";

/** The place of a server that has only one: it has no name, and no argument chooses it. */
export const ONLY_PLACE = "";

/** The tools of each place, by the place's name. */
export type Places = ReadonlyMap<string, readonly AgentTool[]>;

/** A tool name and where it can be called. */
export interface Offer {
  readonly name: string;
  /** By place. */
  readonly tools: ReadonlyMap<string, AgentTool>;
  /** The tool as listed for someone who may use these of its places. */
  listing(places: readonly string[]): Tool;
  /** What the result of a success has as data: the fields that must be there. Undefined when nothing is promised. */
  readonly requiredFields: readonly string[] | undefined;
}

/**
 * What the places offer, by tool name, in the order of the first place and then of what later ones add. Throws
 * `invalid_argument` for tools that could not be told apart or whose parameters collide with ours.
 */
export function createOffers(places: Places, structured: boolean): ReadonlyMap<string, Offer> {
  const byName = new Map<string, Map<string, AgentTool>>();
  for (const [place, tools] of places) {
    for (const tool of tools) {
      const at = byName.get(tool.name) ?? new Map<string, AgentTool>();
      if (at.has(place)) throw refuse(tool.name, "is there twice");
      at.set(place, tool);
      byName.set(tool.name, at);
    }
  }
  const named = !places.has(ONLY_PLACE);
  return new Map([...byName].map(([name, at]) => [name, createOffer(name, at, named, structured)]));
}

function createOffer(name: string, tools: ReadonlyMap<string, AgentTool>, named: boolean, structured: boolean): Offer {
  const [first, ...others] = tools.values();
  if (first === undefined) throw refuse(name, "is nowhere");
  const input = plainSchema(first.parameters);
  if (others.some((other) => JSON.stringify(other.parameters) !== JSON.stringify(first.parameters))) {
    throw refuse(name, "takes other parameters on one target than on another");
  }
  if (named && Object.hasOwn(propertiesOf(input), "target")) throw refuse(name, "has a parameter named target, which says where to run it");
  const output = structured && first.detailsSchema !== undefined ? outputSchema(name, plainSchema(first.detailsSchema)) : undefined;
  const base = { name, title: first.label, description: first.description, annotations: annotationsOf(first) };
  const listed = new Map<string, Tool>();
  return {
    name,
    tools,
    requiredFields: output && requiredOf(output),
    listing(places) {
      const key = JSON.stringify(places);
      const known = listed.get(key);
      if (known !== undefined) return known;
      const inputSchema = (named ? withTarget(input, places) : input) as Tool["inputSchema"];
      const tool = { ...base, inputSchema, ...(output === undefined ? {} : { outputSchema: output as Tool["outputSchema"] }) };
      listed.set(key, tool);
      return tool;
    },
  };
}

function withTarget(schema: JsonSchema, places: readonly string[]): JsonSchema {
  const target = { type: "string", enum: [...places], description: "Where to run it" };
  return { ...schema, properties: { target, ...propertiesOf(schema) }, required: ["target", ...requiredOf(schema)] };
}

/**
 * The text is in there too: several clients show their model nothing but the structured content where there is one.
 */
function outputSchema(name: string, details: JsonSchema): JsonSchema {
  if (Object.hasOwn(propertiesOf(details), "text")) throw refuse(name, "has details named text, which is what a model reads");
  const text = { type: "string", description: "The result in words, the same as the text content" };
  return { ...details, properties: { text, ...propertiesOf(details) }, required: ["text", ...requiredOf(details)] };
}

/** Without the symbols that TypeBox keeps in its schemas, and with "any key, any value" said as other validators say it. */
function plainSchema(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (_key, value: unknown) => {
    if (typeof value !== "object" || value === null || !("patternProperties" in value)) return value;
    const { patternProperties, ...rest } = value;
    return JSON.stringify(patternProperties) === '{"^(.*)$":{}}' ? { ...rest, additionalProperties: true } : value;
  }) as JsonSchema;
}

function propertiesOf(schema: JsonSchema): JsonSchema {
  return (schema.properties ?? {}) as JsonSchema;
}

function requiredOf(schema: JsonSchema): readonly string[] {
  return (schema.required ?? []) as readonly string[];
}

function refuse(name: string, why: string): GloveboxError {
  return new GloveboxError("invalid_argument", `The tool ${JSON.stringify(name)} ${why}: give it another name, or leave one out.`);
}
