import { type Static, type TObject, type TSchema, type TUnsafe, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { createIssueList, describeExpectation, describeValue, fieldInside, fieldOfPointer, type IssueList } from "./validation-issues.js";

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

/** The value it answers with is the caller's own: nothing of it is shared with what was validated. */
export type Validator<Value> = (value: unknown) => Validation<Value>;

/** Deeper than any schema that a model can fill, far from the end of the stack. */
const MAX_DEPTH = 64;
/** Keys and items of one value together; a thousand edits use three thousand. */
const MAX_VALUES = 100_000;

/** One of a few strings, as a schema that every model provider takes (a union of literals is not). */
export function stringEnum<const Values extends readonly string[]>(
  values: Values,
  options: { readonly description?: string } = {},
): TUnsafe<Values[number]> {
  return Type.String({ ...options, enum: [...values] }) as unknown as TUnsafe<Values[number]>;
}

/**
 * A validator, compiled on first use. Strings are coerced where it loses nothing: "7" for a number, "true" and "false" for
 * a boolean. Nothing else is. Keys that are not in the schema are issues when it says `additionalProperties: false`.
 * The value that comes back is a fresh copy without prototype tricks (`__proto__` keys are issues), of JSON values only,
 * at most 64 levels deep and 100,000 values large; its strings are whole characters (half a surrogate pair is an issue).
 * Every field that is wrong is an issue, up to fifty.
 */
export function compileValidator<Schema extends TSchema>(schema: Schema): Validator<Static<Schema>> {
  let check: ReturnType<typeof TypeCompiler.Compile<Schema>> | undefined;
  return (input) => {
    check ??= TypeCompiler.Compile(schema);
    const list = createIssueList();
    const value = copyJson(schema, input, list);
    if (value === TOO_LARGE) return { ok: false, issues: list.issues };
    if (list.issues.length === 0 && check.Check(value)) return { ok: true, value };
    for (const error of check.Errors(value)) {
      if (list.full) break;
      list.add(fieldOfPointer(error.path), describeExpectation(error.schema, error.message), describeValue(error.value));
    }
    return { ok: false, issues: list.issues };
  };
}

const TOO_LARGE = Symbol("too large");

/** `input` copied, its strings coerced as `schema` says. What a JSON text could not have said is added to `list`. */
function copyJson(schema: JsonSchema, input: unknown, list: IssueList): unknown {
  let values = 0;
  const copy = (schema: JsonSchema, value: unknown, field: string, depth: number): unknown => {
    if (typeof value !== "object" || value === null) return copyScalar(schema, value, field, list);
    if (depth === MAX_DEPTH) {
      list.add(/^[^.[]*/.exec(field)?.[0] ?? "", `no more than ${MAX_DEPTH} levels of nesting`, "more");
      throw TOO_LARGE;
    }
    const keys = Array.isArray(value) ? undefined : Object.keys(value);
    values += keys?.length ?? (value as readonly unknown[]).length;
    if (values > MAX_VALUES) {
      list.add("", `no more than ${MAX_VALUES} values`, "more");
      throw TOO_LARGE;
    }
    if (keys === undefined) {
      const items = (schema.type === "array" && schema.items) || {};
      return (value as readonly unknown[]).map((item, index) => copy(items as JsonSchema, item, `${field}[${index}]`, depth + 1));
    }
    const properties = ((schema.type === "object" && schema.properties) || {}) as Record<string, JsonSchema>;
    const copied: [string, unknown][] = [];
    for (const key of keys) {
      const item = (value as Record<string, unknown>)[key];
      const name = fieldInside(field, key);
      if (key === "__proto__") list.add(name, "no such field", describeValue(item));
      else if (item !== undefined)
        copied.push([key, copy((Object.hasOwn(properties, key) && properties[key]) || {}, item, name, depth + 1)]);
    }
    return Object.fromEntries(copied);
  };
  try {
    return copy(schema, input, "", 0);
  } catch (error) {
    if (error === TOO_LARGE) return TOO_LARGE;
    throw error;
  }
}

function copyScalar(schema: JsonSchema, value: unknown, field: string, list: IssueList): unknown {
  if (typeof value === "function" || typeof value === "symbol" || typeof value === "bigint") {
    list.add(field, "a JSON value", describeValue(value));
  } else if (typeof value === "number" && !Number.isFinite(value)) {
    list.add(field, "a finite number", describeValue(value));
  } else if (typeof value === "string") {
    const half = value.search(/\p{Surrogate}/u);
    if (half !== -1) list.add(field, "text of whole characters", `half of a surrogate pair at character ${half + 1}`);
  }
  const coerced = typeof value === "string" ? coerce(schema, value) : value;
  if (Array.isArray(schema.enum) && !schema.enum.includes(coerced)) {
    list.add(field, describeExpectation(schema, ""), describeValue(value));
  }
  return coerced;
}

function coerce(schema: JsonSchema, text: string): unknown {
  if (schema.type === "boolean") return text === "true" ? true : text === "false" ? false : text;
  if ((schema.type !== "number" && schema.type !== "integer") || !/^-?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?$/.test(text)) return text;
  const plain = text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  // Digits beyond what a number holds would be lost without a word.
  return String(Number(text)) === plain ? Number(text) : text;
}
