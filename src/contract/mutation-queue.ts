import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";
import PQueue from "p-queue";
import { abortError, GloveboxError } from "./errors.js";

/** Everyone who runs or waits for one key, first come first. */
interface Line {
  readonly queue: PQueue;
  readonly members: Set<Member>;
}

type Lines = Map<string, Line>;

/** One place in one line: a job that waits for a key or holds it. */
interface Member {
  readonly key: string;
  readonly line: Line;
  /** The job that this one was started in. */
  readonly outer: Member | undefined;
  /** Jobs started in this one that wait or run. */
  readonly children: Set<Member>;
  /** Where jobs started in this one take its key again: in turn among themselves. */
  readonly inner: Lines;
  active: boolean;
}

/*
 * One registry per process, even when two copies of this package are loaded: two wrappings, two tool sets and two
 * schedulers on one target share it.
 */
const SHARED = Symbol.for("glovebox.mutation-queue");
const shared = globalThis as { [SHARED]?: { readonly lines: Lines; readonly current: AsyncLocalStorage<Member> } };
shared[SHARED] ??= { lines: new Map(), current: new AsyncLocalStorage() };
const { lines, current } = shared[SHARED];

export interface MutationOptions {
  readonly signal?: AbortSignal;
  /** Called when the job has to wait; `waiting` is how many stand before it. */
  onQueued?(key: string, waiting: number): void;
}

/**
 * Runs `job` alone among all jobs of this process that share one of `keys`, in order of submission. Several keys are
 * taken in sorted order. A job releases its keys when it has settled, never before, failed or aborted; one whose signal
 * fires while it waits leaves the line at once, never runs, and rejects `aborted`.
 *
 * Re-entrant: a job started inside another takes the keys that the outer one holds from it, in turn with its siblings,
 * and the outer one settles after it. Jobs that take further keys inside can come to wait for each other; the one whose
 * wait would never end rejects `busy` instead.
 */
export async function withMutationKeys<T>(keys: readonly string[], job: () => Promise<T>, options: MutationOptions = {}): Promise<T> {
  const wanted = [...new Set(keys)].sort();
  const enter = async (index: number): Promise<T> => {
    const key = wanted[index];
    return key === undefined ? await job() : await inTurn(key, () => enter(index + 1), options);
  };
  return await enter(0);
}

/** How many keys are in use: 0 when all is idle. */
export function mutationKeysInUse(): number {
  return lines.size;
}

async function inTurn<T>(key: string, job: () => Promise<T>, { signal, onQueued }: MutationOptions): Promise<T> {
  if (signal?.aborted) throw abortError(signal);
  const outer = current.getStore();
  const among = holderOf(key, outer)?.inner ?? lines;
  const waiting = among.get(key)?.members.size ?? 0;
  if (waiting > 0) onQueued?.(key, waiting);
  const line = among.get(key) ?? { queue: new PQueue({ concurrency: 1 }), members: new Set() };
  refuseDeadlock(key, line, outer);
  const member: Member = { key, line, outer, children: new Set(), inner: new Map(), active: true };
  among.set(key, line);
  line.members.add(member);
  outer?.children.add(member);
  // p-queue frees the key as soon as its signal fires, so it gets one that can fire only while the job waits.
  const departure = new AbortController();
  const depart = (): void => departure.abort(signal && abortError(signal));
  signal?.addEventListener("abort", depart, { once: true });
  // p-queue starts a waiting job from inside the one before it; its async context has to be its caller's.
  const turn = AsyncResource.bind(async () => {
    signal?.removeEventListener("abort", depart);
    try {
      return await current.run(member, job);
    } finally {
      // A job inside that nobody awaited may still be writing.
      while (member.inner.size > 0) await Promise.all(Array.from(member.inner.values(), ({ queue }) => queue.onIdle()));
      member.active = false;
    }
  });
  try {
    return await line.queue.add(turn, { signal: departure.signal });
  } finally {
    outer?.children.delete(member);
    line.members.delete(member);
    if (line.members.size === 0) among.delete(key);
  }
}

/** The nearest job around us that holds `key` now. */
function holderOf(key: string, inside: Member | undefined): Member | undefined {
  for (let member = inside; member !== undefined; member = member.outer) {
    if (member.active && member.key === key) return member;
  }
  return undefined;
}

/**
 * Throws when the new job would wait, through others, for a job that it is part of. Such a circle is closed by someone
 * who holds a key and starts to wait for another, so looking here finds every one.
 */
function refuseDeadlock(key: string, line: Line, outer: Member | undefined): void {
  const mine = new Set<Member>();
  for (let member = outer; member !== undefined; member = member.outer) if (member.active) mine.add(member);
  if (mine.size === 0) return;
  const awaited = new Set(line.members);
  // Visits what is added on the way, too.
  for (const member of awaited) {
    if (mine.has(member)) {
      throw new GloveboxError(
        "busy",
        `Jobs that hold files would wait for each other for ever at ${JSON.stringify(key)}. Take all paths of one job at once, or try again.`,
        { details: { key, holding: Array.from(mine, (holder) => holder.key) } },
      );
    }
    for (const child of member.children) {
      awaited.add(child);
      for (const ahead of child.line.members) {
        if (ahead === child) break;
        awaited.add(ahead);
      }
    }
  }
}
