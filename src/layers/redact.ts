import { GloveboxError } from "../contract/errors.js";

/** Shorter secrets would blot out ordinary text. */
const MIN_SECRET_LENGTH = 6;

const REDACTED = "[redacted]";

/**
 * A function that blots out each secret wherever it stands in a text: as it is, percent-encoded by whatever habit, in
 * hexadecimal, and in base64 of either alphabet, alone or in the middle of a longer value.
 * Throws `invalid_argument` for a secret of fewer than 6 characters.
 */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const short = secrets.findIndex((secret) => secret.length < MIN_SECRET_LENGTH);
  if (short >= 0) {
    throw new GloveboxError(
      "invalid_argument",
      `Secret number ${short + 1} has fewer than ${MIN_SECRET_LENGTH} characters and would blot out ordinary text. Leave it out, or make it longer.`,
      { retrySafe: true },
    );
  }
  // The longest first, so that a secret which begins with another one goes as a whole.
  const longestFirst = [...new Set(secrets)].sort((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return (text) => text;
  const any = new RegExp(longestFirst.flatMap(patternsOf).join("|"), "gu");
  return (text) => text.replace(any, REDACTED);
}

function patternsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const plain = Array.from(secret, (character) => (/[A-Za-z0-9]/.test(character) ? character : plainOrPercent(character))).join("");
  const base64 = [0, 1, 2].map((shift) => base64Core(bytes, shift).replace(/[+/]/g, (digit) => (digit === "+" ? "[+\\-]" : "[/_]")));
  return [plain, anyCase(bytes.toString("hex")), ...base64];
}

/** Encoders differ in what they leave as it is. */
function plainOrPercent(character: string): string {
  const percent = Array.from(Buffer.from(character), (byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
  const plain = character.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&");
  return `(?:${anyCase(percent)}|${plain}${character === " " ? "|\\+" : ""})`;
}

function anyCase(hex: string): string {
  return hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

/** The digits that the secret alone determines, when it begins `shift` bytes into a group of three. */
function base64Core(bytes: Buffer, shift: number): string {
  const digits = Buffer.concat([Buffer.alloc(shift), bytes]).toString("base64");
  return digits.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
}
