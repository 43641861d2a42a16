import type { Provisioned, ProvisionedVolume } from "../contract/target.js";
import type { FleetProvisioner } from "./engines/several.js";
import type { FleetNames } from "./names.js";

/**
 * What should become of something at the engine. "keep": somebody alive has it; "adopt": a user's, and nobody's at present;
 * "remove": left half made or half removed; "restore": its replacement was never finished; "unlock": its holder is dead;
 * "foreign": it bears the fleet's id without its seal, or under another name, or is the older of two at several engines.
 */
export type Verdict = "keep" | "adopt" | "remove" | "restore" | "unlock" | "foreign";

export interface Finding {
  readonly what: "sandbox" | "volume" | "lock";
  readonly name: string;
  readonly verdict: Verdict;
  readonly why: string;
  readonly sandbox?: Provisioned;
}

export interface Survey {
  readonly findings: readonly Finding[];
  readonly sandboxes: readonly Provisioned[];
}

/** What this process has at hand, which looks ownerless and is not. */
export interface InUse {
  has(name: string): boolean;
}

/** Looks at all that bears the fleet's id, and changes nothing. Two calls of the engine. */
export async function survey(provisioner: FleetProvisioner, names: FleetNames, inUse: InUse): Promise<Survey> {
  // In this order: a volume that was listed without its container is used by one that came later only if its maker lives.
  const volumes = await provisioner.volumes(names.search);
  const sandboxes = await provisioner.list(names.search);
  const locks = new Map(volumes.filter(({ isLock }) => isLock).map((lock) => [lock.name, lock]));
  const present = new Set(volumes.map(({ name }) => name));
  const snapshots = volumes.filter(({ name }) => names.kindOf(name) === "snapshot");
  const used = new Set([...sandboxes, ...snapshots].map(({ labels }) => names.unseal(labels)?.volume));
  const known = new Set(sandboxes.map(({ name }) => name));
  return {
    sandboxes,
    findings: [
      ...sandboxes.map((sandbox) => judgeSandbox(sandbox)),
      ...(provisioner.several?.older() ?? []).map(({ sandbox, why }): Finding => {
        return { what: "sandbox", name: sandbox.name, verdict: "foreign", why, sandbox };
      }),
      ...volumes.map((volume) => (volume.isLock ? judgeLock(volume) : judgeVolume(volume))),
    ],
  };

  function judgeSandbox(sandbox: Provisioned): Finding {
    const { name, labels, maker } = sandbox;
    const found = (verdict: Verdict, why: string): Finding => ({ what: "sandbox", name, verdict, why, sandbox });
    if (names.unseal(labels) === undefined) return found("foreign", "its seal is not this fleet's");
    switch (names.kindOf(name)) {
      case "keyed": {
        const lock = locks.get(name);
        if (lock === undefined || lock.maker === "dead") return found("adopt", lock ? "its owner is dead" : "nobody owns it");
        return found("keep", "its owner is alive");
      }
      case "spare":
        if (inUse.has(name)) return found("keep", "this process made it");
        if (names.isOwn(name)) return found("remove", "this process could not finish it");
        return maker === "dead" ? found("remove", "its maker died before anybody got it") : found("keep", "its maker is alive");
      case "replaced": {
        const lock = locks.get(names.keyedOf(name));
        if (lock !== undefined && lock.maker !== "dead") return found("keep", "its replacement is being made");
        return known.has(names.keyedOf(name)) ? found("remove", "it was replaced") : found("restore", "its replacement was not finished");
      }
      case "doomed":
        return found("remove", "its removal was not finished");
      case "snapshot":
      case "foreign":
        return found("foreign", "somebody renamed it");
    }
  }

  function judgeVolume({ name, labels, maker }: ProvisionedVolume): Finding {
    const found = (verdict: Verdict, why: string): Finding => ({ what: "volume", name, verdict, why });
    const facts = names.unseal(labels);
    if (names.kindOf(name) === "snapshot" && facts?.spec === name) {
      return present.has(facts.volume) ? found("keep", "a snapshot") : found("remove", "its removal was not finished");
    }
    if (facts?.volume !== name) return found("foreign", "its seal is not this fleet's");
    if (used.has(name)) return found("keep", "a sandbox has it, or a snapshot");
    if (inUse.has(name)) return found("keep", "this process is making its sandbox");
    if (names.isOwn(name) || maker === "dead") return found("remove", "no sandbox has it");
    return found("keep", "its maker is alive");
  }

  function judgeLock({ name, maker }: ProvisionedVolume): Finding {
    const found = (verdict: Verdict, why: string): Finding => ({ what: "lock", name, verdict, why });
    if (maker === "dead") return found("unlock", "its holder is dead");
    return maker === "self" && !inUse.has(name)
      ? found("unlock", "this process could not give it back")
      : found("keep", "its holder is alive");
  }
}
