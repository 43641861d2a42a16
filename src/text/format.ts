/** `1,234,567`. */
export function formatNumber(value: number): string {
  return value.toLocaleString("en-US");
}

/** `1 line`, `2,000 lines`; `plural` for a noun that does not only take an s. */
export function formatCount(count: number, singular: string, plural = `${singular}s`): string {
  return `${formatNumber(count)} ${count === 1 ? singular : plural}`;
}

/** `a`, `a and b`, `a, b and c`. */
export function formatList(items: readonly string[]): string {
  if (items.length < 2) return items.join("");
  return `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}
