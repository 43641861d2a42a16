import { describe, expect, it } from "vitest";
import { Type } from "../../src/contract/schema.js";
import { type AgentTool, bindTool, defineTool } from "../../src/contract/tool.js";
import { textResult } from "../../src/contract/tool-result.js";
import { allToolDefinitions, createReadOnlyTools, createTools, defaultToolNames, toolNames } from "../../src/tools/index.js";
import { createToolRegistry } from "../../src/tools/registry.js";
import { openMemory } from "./support.js";

function tool(name: string, more: Partial<AgentTool> = {}): AgentTool {
  const definition = defineTool({
    name,
    label: name,
    description: `The tool ${name}`,
    parameters: Type.Object({}, { additionalProperties: false }),
    effect: "read",
    promptSnippet: `Does ${name}`,
    promptGuidelines: [`Use ${name} well.`, "Be brief."],
    run: async () => textResult(name),
  });
  return { ...bindTool(definition, {}), ...more };
}

const names = (tools: readonly AgentTool[]): string[] => tools.map(({ name }) => name);

describe("createToolRegistry", () => {
  it("has all tools active unless told otherwise, in order", () => {
    const registry = createToolRegistry([tool("one"), tool("two")]);
    expect(names(registry.getAllTools())).toEqual(["one", "two"]);
    expect(names(registry.getActiveTools())).toEqual(["one", "two"]);
    registry.setActiveTools(["two", "one", "two"]);
    expect(names(registry.getActiveTools())).toEqual(["two", "one"]);
    expect(names(createToolRegistry([tool("one"), tool("two")], { active: ["two"] }).getActiveTools())).toEqual(["two"]);
    expect(registry.getTool("one")?.label).toBe("one");
    expect(registry.getTool("constructor")).toBeUndefined();
  });

  it("refuses an unknown name, and then changes nothing", () => {
    const registry = createToolRegistry([tool("one"), tool("two")]);
    expect(() => registry.setActiveTools(["one", "three", "__proto__"])).toThrow(
      'No tool is named "three" and "__proto__". There are one and two.',
    );
    expect(names(registry.getActiveTools())).toEqual(["one", "two"]);
    expect(() => createToolRegistry([], { active: ["x"] })).toThrow('No tool is named "x". There are no tools; register them first.');
  });

  it("refuses two tools of one name unless told to replace", () => {
    const registry = createToolRegistry([tool("one"), tool("two")]);
    registry.setActiveTools(["two"]);
    expect(() => registry.register(tool("one"))).toThrow(
      'There is a tool named "one" already. Give this one another name, or pass { replace: true } to put it in its place.',
    );
    registry.register(tool("one", { label: "new" }), { replace: true });
    expect(registry.getTool("one")?.label).toBe("new");
    expect(names(registry.getAllTools())).toEqual(["one", "two"]);
    expect(names(registry.getActiveTools())).toEqual(["two"]);
    registry.register(tool("three"));
    registry.register(tool("four"), { active: false });
    expect(names(registry.getActiveTools())).toEqual(["two", "three"]);
  });

  it("renders the active tools for a system prompt, each guideline once", () => {
    const registry = createToolRegistry([
      tool("one"),
      tool("two"),
      tool("three", { promptSnippet: undefined, promptGuidelines: undefined }),
    ]);
    expect(registry.renderPrompt()).toBe(
      [
        "Tools:",
        "- one: Does one",
        "- two: Does two",
        "- three: The tool three",
        "",
        "Guidelines:",
        "- Use one well.",
        "- Be brief.",
        "- Use two well.",
      ].join("\n"),
    );
    registry.setActiveTools(["three"]);
    expect(registry.renderPrompt()).toBe("Tools:\n- three: The tool three");
    registry.setActiveTools([]);
    expect(registry.renderPrompt()).toBe("");
  });
});

describe("createTools", () => {
  it("makes read, bash, edit and write where commands can run, else all but bash", async () => {
    expect(names(createTools(await openMemory({ exec: {} })))).toEqual(["read", "bash", "edit", "write"]);
    expect(names(createTools(await openMemory()))).toEqual(["read", "edit", "write", "grep", "find", "ls"]);
    expect(defaultToolNames(await openMemory())).not.toContain("bash");
  });

  it("makes those that are named, in that order, bound to the environment", async () => {
    const environment = await openMemory();
    const tools = createTools(environment, { names: ["ls", "read"] });
    expect(names(tools)).toEqual(["ls", "read"]);
    expect(tools.every(({ environmentId }) => environmentId === environment.id)).toBe(true);
    expect(() => createTools(environment, { names: ["toString" as "ls"] })).toThrow(
      'No tool is named "toString". There are read, bash, edit, write, grep, find and ls.',
    );
  });

  it("makes the four that change nothing", async () => {
    expect(names(createReadOnlyTools(await openMemory({ exec: {} })))).toEqual(["read", "grep", "find", "ls"]);
  });

  it("offers all seven to a registry with the default ones active", async () => {
    const environment = await openMemory({ exec: {} });
    const registry = createToolRegistry(createTools(environment, { names: toolNames }), { active: defaultToolNames(environment) });
    expect(registry.renderPrompt()).toMatchInlineSnapshot(`
      "Tools:
      - read: Read a text file or an image
      - bash: Run a shell command
      - edit: Replace exact parts of a file
      - write: Create a file or replace all of it

      Guidelines:
      - Use read to look at a file instead of cat or sed in bash.
      - After a read that says how to go on, call read again with the offset it names.
      - Give bash a timeout for commands that may not end by themselves; start servers in the background with &.
      - Commands in bash get no input and no terminal: use flags such as -y, never editors, pagers or prompts.
      - In edit, make each oldText as short as it can be and still occur once, and put all changes of one file in one call.
      - Copy oldText for edit from what read shows; edits are matched against the file before any of them is applied.
      - Use write for new files and complete rewrites only; change a part of a file with edit where that is available."
    `);
  });
});

describe("definitions", () => {
  it.each(Object.entries(allToolDefinitions))("%s has a schema that every provider takes", (name, definition) => {
    expect(definition.name).toBe(name);
    const schema = JSON.parse(JSON.stringify(definition.parameters)) as Record<string, unknown>;
    expect(schema.type).toBe("object");
    const seen: string[] = [];
    const check = (node: Record<string, unknown>, where: string): void => {
      for (const keyword of Object.keys(node)) seen.push(keyword);
      if (node.type === "object") {
        expect(node.additionalProperties, where).toBe(false);
        for (const [field, inner] of Object.entries(node.properties as Record<string, Record<string, unknown>>)) {
          expect(inner.description, `${where}.${field}`).toMatch(/\S/);
          check(inner, `${where}.${field}`);
        }
      }
      if (node.type === "array") {
        expect((node.items as Record<string, unknown>).description, `${where}[]`).toMatch(/\S/);
        check(node.items as Record<string, unknown>, `${where}[]`);
      }
    };
    check(schema, name);
    const allowed = [
      "type",
      "properties",
      "required",
      "additionalProperties",
      "description",
      "items",
      "minimum",
      "maximum",
      "minLength",
      "minItems",
    ];
    expect(seen.filter((keyword) => !allowed.includes(keyword))).toEqual([]);
  });

  it.each(Object.entries(allToolDefinitions))(
    "%s has prompt material that names it",
    (name, { promptSnippet, promptGuidelines, description, label }) => {
      expect(promptSnippet).not.toContain("\n");
      expect(promptGuidelines.length).toBeGreaterThan(0);
      for (const guideline of promptGuidelines) expect(guideline).toMatch(new RegExp(`\\b${name}\\b`));
      expect(description.length).toBeGreaterThan(20);
      expect(label.length).toBeGreaterThan(3);
    },
  );

  it("only write and edit declare what they write, repaired names included", () => {
    expect(toolNames.filter((name) => allToolDefinitions[name].writes !== undefined)).toEqual(["edit", "write"]);
    expect(allToolDefinitions.write.writes?.({ path: "@a", content: "" })).toEqual(["@a", "a"]);
    expect(allToolDefinitions.edit.writes?.({ path: "a", edits: [] })).toEqual(["a"]);
  });

  it("say what they do to the target", () => {
    expect(toolNames.map((name) => `${name} ${allToolDefinitions[name].effect}`)).toEqual([
      "read read",
      "bash execute",
      "edit write",
      "write write",
      "grep read",
      "find read",
      "ls read",
    ]);
  });
});
