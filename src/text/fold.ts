/** The differences that an inexact match may overlook. */
export const FOLDS = ["line endings", "trailing blanks", "quotes", "dashes", "spaces"] as const;
export type Fold = (typeof FOLDS)[number];

const EVERY_FOLD: ReadonlySet<Fold> = new Set(FOLDS);
const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;

export interface FoldOptions {
  /** Default: all. */
  readonly folds?: ReadonlySet<Fold>;
  /** Leaves the blanks at the text's own end, where no line ending follows. Default false. */
  readonly keepEnd?: boolean;
}

export interface Folded {
  readonly text: string;
  /** For each UTF-16 unit of `text`: where it stood. A line ending stands where its first unit stood. */
  readonly origins: Int32Array;
}

/** Folds a text in one pass, in memory bounded by its length whatever it holds. */
export function foldWithOrigins(text: string, { folds = EVERY_FOLD, keepEnd = false }: FoldOptions = {}): Folded {
  const units = new Uint16Array(text.length);
  const origins = new Int32Array(text.length);
  const endings = folds.has("line endings");
  const blanks = folds.has("trailing blanks");
  let length = 0;
  const trim = (): void => {
    while (blanks && length > 0 && isBlank(units[length - 1] ?? 0)) length -= 1;
  };
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    origins[length] = index;
    if (unit === CARRIAGE_RETURN || unit === LINE_FEED) {
      trim();
      origins[length] = index;
      units[length] = endings ? LINE_FEED : unit;
      if (endings && unit === CARRIAGE_RETURN && text.charCodeAt(index + 1) === LINE_FEED) index += 1;
    } else {
      units[length] = foldUnit(unit, folds);
    }
    length += 1;
  }
  if (!keepEnd) trim();
  return { text: Buffer.from(units.buffer, 0, length * 2).toString("utf16le"), origins: origins.subarray(0, length) };
}

/** `text` folded. */
export function fold(text: string, options?: FoldOptions): string {
  return foldWithOrigins(text, options).text;
}

/** Unicode's spaces as plain ones. */
export function foldSpaces(text: string): string {
  return text.replace(/[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/g, " ");
}

/** Whether a text has nothing but blanks and line endings. */
export function isBlankText(text: string): boolean {
  return /^[ \t\r\n]*$/.test(foldSpaces(text));
}

function foldUnit(unit: number, folds: ReadonlySet<Fold>): number {
  if (unit < 0xa0) return unit;
  if (isUnicodeSpace(unit)) return folds.has("spaces") ? SPACE : unit;
  if (unit < 0x2010 || unit > 0x2212) return unit;
  if (unit <= 0x2015 || unit === 0x2212) return folds.has("dashes") ? 0x2d : unit;
  if (unit >= 0x2018 && unit <= 0x201b) return folds.has("quotes") ? 0x27 : unit;
  if (unit >= 0x201c && unit <= 0x201f) return folds.has("quotes") ? 0x22 : unit;
  return unit;
}

function isBlank(unit: number): boolean {
  return unit === SPACE || unit === TAB || isUnicodeSpace(unit);
}

function isUnicodeSpace(unit: number): boolean {
  if (unit < 0xa0) return false;
  return unit === 0xa0 || unit === 0x1680 || (unit >= 0x2000 && unit <= 0x200a) || unit === 0x202f || unit === 0x205f || unit === 0x3000;
}
