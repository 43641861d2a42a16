import { type Static, type TObject, type TSchema, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";

/*
 * The one module that knows TypeBox. Everyone else sees plain JSON Schema and a `Validator`.
 */
export { type Static, type TObject, type TSchema, Type };

/** A plain JSON Schema object. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export interface ValidationIssue {
  /** `edits[0].oldText`; "" for the whole value. */
  readonly field: string;
  /** What was wanted, in words: "a number >= 1". */
  readonly expected: string;
  /** What came, in words, shortened. */
  readonly received: string;
}

export type Validation<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly issues: readonly ValidationIssue[] };

export type Validator<Value> = (value: unknown) => Validation<Value>;

/**
 * A validator, compiled on first use. Strings are coerced where it loses nothing: "7" for a number, "true" and "false" for
 * a boolean. Nothing else is. Keys that are not in the schema are issues when it says `additionalProperties: false`.
 * The value that comes back is a fresh copy without prototype tricks (`__proto__` keys are issues).
 */
export function compileValidator<Schema extends TSchema>(schema: Schema): Validator<Static<Schema>> {
  let check: ReturnType<typeof TypeCompiler.Compile<Schema>> | undefined;
  return (input) => {
    check ??= TypeCompiler.Compile(schema);
    const value = coerce(schema, input);
    if (check.Check(value)) return { ok: true, value };
    const issues = new Map<string, ValidationIssue>();
    for (const error of check.Errors(value)) {
      const field = fieldName(error.path);
      if (issues.has(field)) continue;
      issues.set(field, { field, expected: expectation(error.schema, error.message), received: describeValue(error.value) });
      if (issues.size === 20) break;
    }
    return { ok: false, issues: [...issues.values()] };
  };
}

function coerce(schema: JsonSchema, value: unknown): unknown {
  if (typeof value === "string") {
    if ((schema.type === "number" || schema.type === "integer") && /^-?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?$/.test(value))
      return Number(value);
    if (schema.type === "boolean" && (value === "true" || value === "false")) return value === "true";
    return value;
  }
  if (Array.isArray(value)) {
    return schema.type === "array" ? value.map((item) => coerce((schema.items ?? {}) as JsonSchema, item)) : value;
  }
  if (typeof value === "object" && value !== null && schema.type === "object") {
    const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, coerce(Object.hasOwn(properties, key) ? (properties[key] ?? {}) : {}, item)]),
    );
  }
  return value;
}

function fieldName(pointer: string): string {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((name, part) => (/^\d+$/.test(part) ? `${name}[${part}]` : name === "" ? part : `${name}.${part}`), "");
}

function expectation(schema: JsonSchema, message: string): string {
  if (message === "Unexpected property") return "no such field";
  if (Array.isArray(schema.enum)) return `one of ${schema.enum.map((item) => JSON.stringify(item)).join(", ")}`;
  const bounds = [
    schema.minimum !== undefined && `>= ${schema.minimum}`,
    schema.exclusiveMinimum !== undefined && `> ${schema.exclusiveMinimum}`,
    schema.maximum !== undefined && `<= ${schema.maximum}`,
    schema.minLength !== undefined && `of ${schema.minLength} or more characters`,
    schema.minItems !== undefined && `of ${schema.minItems} or more items`,
  ].filter((bound) => bound !== false);
  if (typeof schema.type !== "string") return message.toLowerCase();
  return [`${/^[aeiou]/.test(schema.type) ? "an" : "a"} ${schema.type}`, bounds.join(" and ")].filter(Boolean).join(" ");
}

function describeValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "number" || typeof value === "boolean" || value === null) return String(value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === "object") return "an object";
  const text = String(value);
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}
