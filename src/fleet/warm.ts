import { attempt, type Ground, messageOf } from "./ground.js";
import type { Made, Maker } from "./make.js";

/** Sandboxes kept ready for new users of this process, each with a volume of its own. */
export interface Warm {
  /** One for the caller, who starts it if it is paused; undefined when there is none that can get the name. */
  take(name: string): (Made & { readonly paused: boolean }) | undefined;
  /** Makes what is missing, one at a time, in the background. */
  refill(): void;
  /** Resolves when nothing is being made any more. */
  settled(): Promise<void>;
  /** Forgets one that the engine no longer has. */
  forget(name: string): void;
  readonly size: number;
  readonly names: readonly string[];
  close(): Promise<void>;
}

/** After a claim, so that the engine first serves the user's first calls. */
const REFILL_AFTER_MS = 150;
/** After a failure, so that an engine in trouble is not asked all the time. */
const RETRY_MS = 5_000;

export function createWarm(ground: Ground, maker: Maker): Warm {
  const { size, paused } = ground.settings.warm;
  const ready: (Made & { readonly paused: boolean })[] = [];
  let filling: Promise<void> | undefined;
  let refilling: ReturnType<typeof setTimeout> | undefined;
  let notBefore = Number.NEGATIVE_INFINITY;
  let closed = false;

  async function add(): Promise<void> {
    const made = await maker.make({ tenant: " warm" });
    try {
      if (paused) await ground.provisioner.pause(made.id);
      if (closed) throw new Error("closed");
      ready.push({ ...made, paused });
    } catch (error) {
      await maker.scrap(made);
      throw error;
    }
  }

  async function fill(): Promise<void> {
    try {
      while (!closed && ready.length < size) await add();
    } catch (error) {
      notBefore = ground.now() + RETRY_MS;
      ground.act("failed", "", { message: `A warm sandbox could not be made: ${messageOf(error)}` });
    } finally {
      filling = undefined;
    }
  }

  return {
    take(name) {
      const { several } = ground.provisioner;
      const at = ready.findIndex(({ id }) => several?.fits(id, name) ?? true);
      return at < 0 ? undefined : ready.splice(at, 1)[0];
    },
    refill() {
      if (closed || filling !== undefined || ready.length >= size || ground.now() < notBefore) return;
      refilling ??= setTimeout(() => {
        refilling = undefined;
        if (!closed) filling ??= fill();
      }, REFILL_AFTER_MS);
    },
    async settled() {
      await filling;
    },
    forget(name) {
      const at = ready.findIndex((made) => made.name === name);
      const [made] = at < 0 ? [] : ready.splice(at, 1);
      if (made !== undefined) void maker.scrap(made);
    },
    get size() {
      return ready.length;
    },
    get names() {
      return ready.map(({ name }) => name);
    },
    async close() {
      closed = true;
      clearTimeout(refilling);
      await filling;
      await Promise.all(ready.splice(0).map((made) => attempt(maker.scrap(made))));
    },
  };
}
