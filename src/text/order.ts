/** Order by code point. (`<` on strings orders by UTF-16 unit, which puts U+1F600 before U+FF5E.) */
export function compareCodePoints(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let index = 0; index < length; index += 1) {
    if (one.charCodeAt(index) === other.charCodeAt(index)) continue;
    // In a pair whose first halves are equal, its second half decides, which code points do too.
    return (one.codePointAt(index) ?? 0) - (other.codePointAt(index) ?? 0);
  }
  return one.length - other.length;
}

/** Order of names in a listing: by code point, case-folded; names equal but for case by code point as they are. */
export function compareNames(one: string, other: string): number {
  return compareCodePoints(one.toLowerCase(), other.toLowerCase()) || compareCodePoints(one, other);
}
