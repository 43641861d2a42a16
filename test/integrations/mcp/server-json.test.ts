import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { compileValidator, Type } from "../../../src/index.js";

const read = async (name: string): Promise<Record<string, unknown>> =>
  JSON.parse(await readFile(new URL(`../../../${name}`, import.meta.url), "utf8"));

const strict = { additionalProperties: false };
const argument = Type.Object(
  {
    type: Type.String({ enum: ["positional", "named"] }),
    name: Type.Optional(Type.String({ pattern: "^--[a-z-]+$" })),
    value: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    placeholder: Type.Optional(Type.String()),
    isRequired: Type.Optional(Type.Boolean()),
  },
  strict,
);

/** The part of the registry's schema of 2025-12-11 that is used. */
const schema = Type.Object(
  {
    $schema: Type.String({ enum: ["https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"] }),
    name: Type.String({ pattern: "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", minLength: 3, maxLength: 200 }),
    title: Type.String({ minLength: 1, maxLength: 100 }),
    description: Type.String({ minLength: 1, maxLength: 100 }),
    version: Type.String({ pattern: "^\\d+\\.\\d+\\.\\d+$" }),
    packages: Type.Array(
      Type.Object(
        {
          registryType: Type.String({ enum: ["npm"] }),
          identifier: Type.String(),
          version: Type.String(),
          runtimeHint: Type.String({ enum: ["npx"] }),
          transport: Type.Object({ type: Type.String({ enum: ["stdio"] }) }, strict),
          packageArguments: Type.Array(argument),
        },
        strict,
      ),
      { minItems: 1 },
    ),
  },
  strict,
);

describe("server.json", () => {
  it("is what the MCP registry takes, and speaks of this package", async () => {
    const described = await read("server.json");
    expect(compileValidator(schema)(described)).toEqual({ ok: true, value: described });
    const { name, version, mcpName = described.name } = await read("package.json");
    expect(described).toMatchObject({ name: mcpName, version, packages: [{ identifier: name, version }] });
  });
});
