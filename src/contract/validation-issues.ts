import type { JsonSchema, ValidationIssue } from "./schema.js";

/*
 * The words of a failed validation: which field, what was wanted, what came. All of them short, whatever came.
 */

const MAX_ISSUES = 50;
const MAX_SHOWN_CHARACTERS = 60;

export interface IssueList {
  readonly issues: readonly ValidationIssue[];
  /** The first word about a field stands; beyond fifty fields nothing is added. */
  add(field: string, expected: string, received: string): void;
  readonly full: boolean;
}

export function createIssueList(): IssueList {
  const byField = new Map<string, ValidationIssue>();
  return {
    get issues() {
      return [...byField.values()];
    },
    get full() {
      return byField.size >= MAX_ISSUES;
    },
    add(field, expected, received) {
      if (byField.size < MAX_ISSUES && !byField.has(field)) byField.set(field, { field, expected, received });
    },
  };
}

/** `edits[0].oldText` for the JSON pointer `/edits/0/oldText`. */
export function fieldOfPointer(pointer: string): string {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce((field, part) => (/^\d+$/.test(part) ? `${field}[${part}]` : fieldInside(field, part)), "");
}

export function fieldInside(field: string, key: string): string {
  if (!/^[\w$-]{1,60}$/.test(key)) return `${field}[${quoted(key)}]`;
  return field === "" ? key : `${field}.${key}`;
}

/** What `schema` wants, in words; `message` is the validator's own, for what these words do not cover. */
export function describeExpectation(schema: JsonSchema, message: string): string {
  if (message === "Unexpected property") return "no such field";
  if (Array.isArray(schema.enum)) return `one of ${schema.enum.map((item) => JSON.stringify(item)).join(", ")}`;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (typeof schema.type !== "string") return message.toLowerCase();
  const bounds = Object.entries(BOUNDS).flatMap(([name, say]) => (schema[name] === undefined ? [] : [say(schema[name])]));
  return [`${/^[aeiou]/.test(schema.type) ? "an" : "a"} ${schema.type}`, bounds.join(" and ")].filter(Boolean).join(" ");
}

const BOUNDS: Readonly<Record<string, (bound: unknown) => string>> = {
  minimum: (bound) => `>= ${bound}`,
  exclusiveMinimum: (bound) => `> ${bound}`,
  maximum: (bound) => `<= ${bound}`,
  exclusiveMaximum: (bound) => `< ${bound}`,
  multipleOf: (bound) => `that is a multiple of ${bound}`,
  minLength: (bound) => `of ${bound} or more characters`,
  maxLength: (bound) => `of at most ${bound} characters`,
  pattern: (bound) => `matching ${bound}`,
  minItems: (bound) => `of ${bound} or more items`,
  maxItems: (bound) => `of at most ${bound} items`,
};

export function describeValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "number" || typeof value === "boolean" || value === null) return String(value);
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === "object") return "an object";
  if (typeof value !== "string") return `a ${typeof value}`;
  return value.length > MAX_SHOWN_CHARACTERS ? `${quoted(value)}, ${value.length} characters` : quoted(value);
}

function quoted(text: string): string {
  if (text.length <= MAX_SHOWN_CHARACTERS) return JSON.stringify(text);
  return JSON.stringify(`${text.slice(0, MAX_SHOWN_CHARACTERS).replace(/[\ud800-\udbff]$/, "")}…`);
}
