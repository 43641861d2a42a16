import { type Static, stringEnum, type TSchema, Type } from "../contract/schema.js";
import type { Truncation } from "../text/truncate.js";

/** What of how much a model was shown, and which limit ended it. What is counted (lines, entries, matches) is each tool's to say. */
export const truncationSchema = Type.Object(
  {
    shown: Type.Integer({ description: "How many are shown" }),
    total: Type.Optional(Type.Integer({ description: "How many there are, where that is known" })),
    by: stringEnum(["lines", "bytes", "limit"], {
      description: "The limit that was met: 2,000 lines, 50 KiB of text, or the call's own limit",
    }),
  },
  { description: "Present when not everything is shown" },
);

/** See `ErrorData`. Present in the details of an error result that was made from an error. */
export const errorSchema = Type.Object(
  {
    code: Type.String({ description: "What went wrong, from a fixed list: not_found, conflict, timeout, ..." }),
    message: Type.String({ description: "What failed, why, and what to do next" }),
    retrySafe: Type.Boolean({ description: "Whether the same call again cannot do harm" }),
    target: Type.Optional(Type.String({ description: "Where it happened" })),
    verb: Type.Optional(Type.String({ description: "Which operation failed" })),
    path: Type.Optional(Type.String({ description: "On which path" })),
    details: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: "Further facts" })),
  },
  { description: "Present when the call failed" },
);

/** The schema of a tool's details: its own facts, and `error` when the call failed. */
export function detailsSchema<Facts extends Record<string, TSchema>>(facts: Facts) {
  return Type.Object({ ...facts, error: Type.Optional(errorSchema) });
}

export type TruncationDetails = Static<typeof truncationSchema>;

/** A truncation as data; nothing when everything is shown. */
export function truncationDetails(truncation: Truncation): { truncation?: TruncationDetails } {
  const { by, shownLines, totalLines } = truncation;
  return by === undefined ? {} : { truncation: { shown: shownLines, total: totalLines, by } };
}
