export const targetNames = ["memory", "local", "docker", "ssh"] as const;
export type TargetName = (typeof targetNames)[number];

/** Whether tests can use a target now, and if not, why. */
export type TargetState = { readonly ready: true } | { readonly ready: false; readonly reason: string };
export type TargetStates = Readonly<Record<TargetName, TargetState>>;

/** The targets that the comma-separated list in TARGETS names; all of them where it is empty or unset. */
export function selectTargets(list: string | undefined): ReadonlySet<TargetName> {
  const names = (list ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const unknown = names.filter((name) => !isTargetName(name));
  if (unknown.length > 0) {
    throw new Error(`TARGETS names no target of ours: ${unknown.join(", ")}. Choose from ${targetNames.join(",")}.`);
  }
  return new Set(names.length === 0 ? targetNames : names.filter(isTargetName));
}

function isTargetName(name: string): name is TargetName {
  return (targetNames as readonly string[]).includes(name);
}
