import type { AgentTool } from "../contract/tool.js";

/** Calls of a batch that run alike: one by one in source order, or together. */
export interface Group<Entry> {
  readonly oneByOne: boolean;
  readonly entries: readonly Entry[];
}

/**
 * The sequential veto: one sequential tool makes all calls on its environment run one by one, each such environment a
 * group of its own; one that is bound to no environment makes the whole batch do so. All other calls run together.
 * Groups are in the order of their first calls.
 */
export function groupCalls<Entry extends { readonly tool: AgentTool | undefined }>(
  entries: readonly Entry[],
  allOneByOne: boolean,
): readonly Group<Entry>[] {
  const vetoes = new Set<string | undefined>();
  for (const { tool } of entries) if (tool?.executionMode === "sequential") vetoes.add(tool.environmentId);
  if (allOneByOne || vetoes.has(undefined)) return [{ oneByOne: true, entries }];
  const groups = new Map<string | undefined, Entry[]>();
  for (const entry of entries) {
    const environmentId = entry.tool?.environmentId;
    const key = vetoes.has(environmentId) ? environmentId : undefined;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [entry]);
    else group.push(entry);
  }
  return Array.from(groups, ([key, members]) => ({ oneByOne: key !== undefined, entries: members }));
}
