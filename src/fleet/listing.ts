import type { Ground } from "./ground.js";
import type { FleetUser } from "./names.js";
import type { Sandbox } from "./sandbox.js";
import { type InUse, survey } from "./survey.js";

export interface ListedSandbox {
  readonly name: string;
  /** Known for users who asked this process. */
  readonly user?: FleetUser;
  /** "lost": at an engine that does not answer. */
  readonly state: string;
  /** "this" process, an "other" one that lives, "nobody". */
  readonly owner: "this" | "other" | "nobody";
  readonly leases: number;
  /** Where this process owns it. */
  readonly idleMs?: number;
  readonly createdMs: number;
  /** Where this process measured it: see `maxWorkspaceBytes`, `size`. */
  readonly workspaceBytes?: number;
  /** Of several, the one that has it. */
  readonly engine?: string;
}

/** The users' sandboxes at the engine. */
export async function listSandboxes(
  { provisioner, names, now }: Ground,
  inUse: InUse,
  all: ReadonlyMap<string, Sandbox>,
): Promise<readonly ListedSandbox[]> {
  const { findings } = await survey(provisioner, names, inUse);
  const lost = (await provisioner.several?.lost(names.search)) ?? [];
  const userOf = (name: string): Pick<ListedSandbox, "user"> => {
    const user = all.get(name)?.user;
    return user === undefined ? {} : { user };
  };
  return [
    ...findings.flatMap(({ name, verdict, sandbox: found }) => {
      if (found === undefined || names.kindOf(name) !== "keyed" || verdict === "foreign") return [];
      const sandbox = all.get(name);
      const { state, createdMs, engine } = found;
      return [
        {
          name,
          ...userOf(name),
          state,
          owner: sandbox?.owned ? "this" : verdict === "keep" ? "other" : "nobody",
          leases: sandbox?.claims ?? 0,
          ...(sandbox?.owned && sandbox.claims === 0 ? { idleMs: now() - sandbox.idleSinceMs } : {}),
          createdMs,
          ...(sandbox?.workspaceBytes === undefined ? {} : { workspaceBytes: sandbox.workspaceBytes }),
          ...(engine === undefined ? {} : { engine }),
        } as const,
      ];
    }),
    ...lost.map(({ name, engine, placedMs }) => {
      return {
        name,
        ...userOf(name),
        state: "lost",
        owner: "nobody",
        leases: all.get(name)?.claims ?? 0,
        createdMs: placedMs,
        engine,
      } as const;
    }),
  ];
}
