/**
 * Folds what models send instead of `{ path, edits: [{ oldText, newText }] }`: the edits as a JSON string, one edit alone without
 * its array, or `oldText` and `newText` at the top. Anything else is left for validation to name. Never throws.
 */
export function prepareEditArguments(raw: unknown): unknown {
  if (!isRecord(raw)) return raw;
  const { oldText, newText, ...rest } = raw;
  const legacy = oldText === undefined && newText === undefined ? [] : [definedOnly({ oldText, newText })];
  const edits = foldEdits(rest.edits);
  if (legacy.length === 0) return edits === undefined ? raw : { ...rest, edits };
  if (edits === undefined) return { ...rest, edits: legacy };
  return Array.isArray(edits) ? { ...rest, edits: [...edits, ...legacy] } : raw;
}

function foldEdits(edits: unknown): unknown {
  const parsed = typeof edits === "string" ? parse(edits) : edits;
  return isRecord(parsed) ? [parsed] : parsed;
}

function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : text;
  } catch {
    return text;
  }
}

function definedOnly(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
