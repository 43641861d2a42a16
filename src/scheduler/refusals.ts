import { abortError, GloveboxError } from "../contract/errors.js";
import type { ValidationIssue } from "../contract/schema.js";
import type { ToolCall } from "../contract/tool.js";

/*
 * Why a call did not run, in words for the model. Nothing happened, so each may be called again: `retrySafe`.
 */

const MAX_SHOWN_CHARACTERS = 100;

export function malformedCall(): GloveboxError {
  return refused("invalid_argument", 'This is not a tool call: it needs an "id" and a "name", both of them strings, and "arguments".');
}

export function duplicateId({ id, name }: ToolCall): GloveboxError {
  return refused(
    "invalid_argument",
    `${shown(name)} did not run: several calls of this batch have the id ${JSON.stringify(shown(id))}, so their results could not be told apart. None of them ran. Call again with an id of its own for each.`,
  );
}

export function unknownTool(name: string, known: readonly string[]): GloveboxError {
  const near = nearest(name, known);
  const hint = near === undefined ? "" : ` Did you mean ${near}?`;
  const choice = known.length === 0 ? "There are no tools here." : `The tools here are ${[...known].sort().join(", ")}.`;
  return refused("not_found", `There is no tool named ${JSON.stringify(shown(name))}.${hint} ${choice}`, { nearest: near, tools: known });
}

export function invalidArguments(name: string, issues: readonly ValidationIssue[]): GloveboxError {
  const lines = issues.map(({ field, expected, received }) => `- ${field || "arguments"}: expected ${expected}, received ${received}`);
  const put = issues.length === 1 ? "this" : "these";
  return refused(
    "invalid_argument",
    [`${name} did not run: its arguments are not valid.`, ...lines, `Call it again with ${put} put right.`].join("\n"),
    { issues },
  );
}

export function unusableArguments(name: string, said: string): GloveboxError {
  return refused(
    "invalid_argument",
    `${name} did not run: it could not make sense of its arguments (${said}). Call it again with arguments as its schema describes them.`,
  );
}

export function blocked(name: string, reason: string | undefined): GloveboxError {
  const why = reason === undefined ? "." : `: ${sentence(reason)}`;
  return refused("permission_denied", `${name} did not run: it was blocked${why} Do not repeat the call as it is.`);
}

export function hookFailed(name: string, code: "unexpected" | "timeout"): GloveboxError {
  const what = code === "timeout" ? "did not answer in time" : "failed";
  return refused(code, `${name} did not run: a check that every call has to pass ${what}. Tell the user if it happens again.`);
}

export function denied(name: string, reason: string | undefined): GloveboxError {
  const why = reason === undefined ? "." : `: ${sentence(reason)}`;
  return refused("permission_denied", `${name} did not run: the person who was asked said no${why} Do not repeat the call as it is.`);
}

export function nobodyAnswered(name: string, timeoutMs: number): GloveboxError {
  return refused(
    "timeout",
    `${name} did not run: it needs a person's consent, and nobody answered within ${timeoutMs / 1000} s. Go on without it, or tell the user what you wait for.`,
  );
}

export function nobodyToAsk(name: string): GloveboxError {
  return refused(
    "permission_denied",
    `${name} did not run: it needs a person's consent, and there is nobody to ask here. Go on without it.`,
  );
}

export function neverStarted(name: string, signal: AbortSignal): GloveboxError {
  const { code } = abortError(signal);
  const why = code === "timeout" ? "the time ran out before its turn came" : "the batch was aborted before its turn came";
  return refused(code, `${name} did not run: ${why}. Call it again if it is still wanted.`);
}

function refused(code: GloveboxError["code"], message: string, details: Readonly<Record<string, unknown>> = {}): GloveboxError {
  return new GloveboxError(code, message, { retrySafe: true, details });
}

function sentence(reason: string): string {
  return /[.!?]$/.test(reason) ? reason : `${reason}.`;
}

/** The beginning of a text that may be as long as a model likes. */
export function shown(text: string, maxCharacters = MAX_SHOWN_CHARACTERS): string {
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters).replace(/[\ud800-\udbff]$/, "")}…` : text;
}

/** The known name that is closest: inside the other, or a few slips of the finger away. */
function nearest(name: string, known: readonly string[]): string | undefined {
  const wanted = name.slice(0, MAX_SHOWN_CHARACTERS).toLowerCase();
  const ranked = known
    .map((candidate) => ({ candidate, distance: distance(wanted, candidate.toLowerCase()) }))
    .sort((one, other) => one.distance - other.distance);
  const best = ranked[0];
  return best !== undefined && best.distance <= Math.max(1, Math.floor(best.candidate.length / 2)) ? best.candidate : undefined;
}

/** Insertions, deletions and replacements between two short strings; half of one when one is a word of the other. */
function distance(one: string, other: string): number {
  if (one !== other && one.split(/[^a-z0-9]+/).includes(other)) return 0.5;
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 0; i < one.length; i += 1) {
    const next = [i + 1];
    for (let j = 0; j < other.length; j += 1) {
      next.push(Math.min((row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1, (row[j] ?? 0) + (one[i] === other[j] ? 0 : 1)));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
