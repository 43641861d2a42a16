import { randomUUID } from "node:crypto";
import type Docker from "dockerode";
import { GloveboxError } from "../../src/contract/errors.js";
import { DEADLINE_MS, type Engine } from "./engine.js";
import { checkUserName } from "./names.js";
import { isOwnerDead, LABEL, ownerLabels } from "./owner.js";
import { unlessStatus } from "./unless-status.js";
import { VOLUME_LABEL } from "./volumes.js";

/** Tells the holders in one process apart. */
const HOLDER_LABEL = "glovebox.holder";

type Labels = Readonly<Record<string, string>>;

export interface EngineLocks {
  take(name: string, labels: Labels): Promise<boolean>;
  release(name: string): Promise<void>;
  /** Makes an empty volume that is no lock, unless there is one; resolves to the labels of whoever made it. */
  mark(name: string, labels: Labels): Promise<Labels>;
}

/**
 * Locks of all who share an engine, each an empty volume: the engine makes one of a name only once and answers every later
 * maker with the labels of the first, which cannot change. So whoever finds his own labels in the answer holds the lock,
 * whether an answer was lost on the way or not. A dead holder's is broken under the lock of the lock.
 */
export function engineLocks(engine: Engine): EngineLocks {
  const self = randomUUID();
  const taken = new Set<string>();

  async function take(text: string, labels: Labels): Promise<boolean> {
    const name = checkUserName(text, "volume");
    if (taken.has(name)) return false;
    taken.add(name);
    let isOurs = false;
    try {
      isOurs = (await claim(name, labels)) || ((await breakDead(name, labels)) && (await claim(name, labels)));
    } finally {
      if (!isOurs) taken.delete(name);
    }
    return isOurs;
  }

  async function claim(name: string, labels: Labels): Promise<boolean> {
    const call = { what: `take the lock ${name}`, deadlineMs: DEADLINE_MS.change };
    const own = { ...labels, [VOLUME_LABEL]: "lock", [HOLDER_LABEL]: self, ...ownerLabels("provisioned") };
    const request = { Name: name, Driver: "local", Labels: own };
    const volume = await engine.call(call, (docker, abortSignal) => makeVolume(docker, request, abortSignal));
    return volume.Labels?.[HOLDER_LABEL] === self;
  }

  /** Resolves to whether it is worth another try. */
  async function breakDead(name: string, labels: Labels): Promise<boolean> {
    const holder = await holderOf(name);
    if (holder === undefined) return true;
    if (!isOwnerDead(holder[LABEL.owner])) return false;
    const breaking = `${name}.break`;
    if (!(await take(breaking, labels))) return false;
    try {
      if ((await holderOf(name))?.[HOLDER_LABEL] === holder[HOLDER_LABEL]) await remove(name);
    } finally {
      await release(breaking);
    }
    return true;
  }

  async function holderOf(name: string): Promise<Labels | undefined> {
    const call = { what: `look up the lock ${name}`, deadlineMs: DEADLINE_MS.inspect, readOnly: true };
    try {
      const { Labels: labels } = await engine.call(call, (docker, abortSignal) => docker.getVolume(name).inspect({ abortSignal }));
      return labels ?? {};
    } catch (error) {
      if (error instanceof GloveboxError && error.code === "not_found") return undefined;
      throw error;
    }
  }

  async function remove(name: string): Promise<void> {
    const call = { what: `give back the lock ${name}`, deadlineMs: DEADLINE_MS.change };
    await unlessStatus(
      404,
      engine.call(call, (docker, abortSignal) => docker.getVolume(name).remove({ abortSignal })),
    );
  }

  async function release(text: string): Promise<void> {
    const name = checkUserName(text, "volume");
    try {
      await remove(name);
    } finally {
      taken.delete(name);
    }
  }

  async function mark(text: string, labels: Labels): Promise<Labels> {
    const name = checkUserName(text, "volume");
    const call = { what: `mark ${name}`, deadlineMs: DEADLINE_MS.change };
    const request = { Name: name, Driver: "local", Labels: { ...labels, [VOLUME_LABEL]: "mark", ...ownerLabels("provisioned") } };
    const volume = await engine.call(call, (docker, abortSignal) => makeVolume(docker, request, abortSignal));
    return volume.Labels ?? {};
  }

  return { take, release, mark };
}

interface MadeVolume {
  readonly Labels?: Labels | null;
}

/** dockerode's own createVolume throws the answer away, which is the point here. */
function makeVolume(docker: Docker, options: object, abortSignal: AbortSignal): Promise<MadeVolume> {
  const statusCodes = { 200: true, 201: true, 500: "server error" };
  return new Promise((resolve, reject) => {
    docker.modem.dial({ path: "/volumes/create?", method: "POST", options, abortSignal, statusCodes }, (error: unknown, answer: unknown) =>
      error ? reject(error) : resolve(answer as MadeVolume),
    );
  });
}
