/** Stands for any number of items, none included. */
export const MANY = Symbol("many");

/** Each element but MANY is one item's test. */
export type Sequence<Item> = readonly (typeof MANY | ((item: Item) => boolean))[];

/**
 * Whether `sequence` matches all of `items`. Trying again from the last MANY alone is enough, since an earlier one could
 * only take what it may take as well: so no pattern backtracks beyond pattern times items.
 */
export function matchesSequence<Item>(sequence: Sequence<Item>, items: readonly Item[]): boolean {
  let at = 0;
  let item = 0;
  let many = -1;
  let taken = 0;
  while (item < items.length) {
    const test = sequence[at];
    if (test === MANY) {
      many = at;
      taken = item;
      at += 1;
    } else if (test?.(items[item] as Item)) {
      at += 1;
      item += 1;
    } else if (many >= 0) {
      taken += 1;
      at = many + 1;
      item = taken;
    } else return false;
  }
  while (sequence[at] === MANY) at += 1;
  return at === sequence.length;
}
