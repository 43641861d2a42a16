import { randomBytes } from "node:crypto";

/**
 * Ends an answer on a stream: 128 random bits in hexadecimal, behind a letter that occurs nowhere else in it, so that no
 * two of the same can overlap.
 */
export function newMarker(): string {
  return `M${randomBytes(16).toString("hex")}`;
}
