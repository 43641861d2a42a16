import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { GloveboxError } from "../../src/contract/errors.js";
import { mutationKeysInUse, withMutationKeys } from "../../src/contract/mutation-queue.js";

/** A promise and the functions that settle it. */
function gate<T = void>() {
  let open!: (value: T) => void;
  let fail!: (error: unknown) => void;
  const passed = new Promise<T>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { passed, open, fail };
}

/** Jobs that write down when they begin and end. */
function diary() {
  const lines: string[] = [];
  const job =
    (name: string, until: Promise<unknown> = turn()) =>
    async () => {
      lines.push(`${name} begins`);
      try {
        await until;
      } finally {
        lines.push(`${name} ends`);
      }
      return name;
    };
  return { lines, job };
}

afterEach(() => expect(mutationKeysInUse()).toBe(0));

describe("withMutationKeys", () => {
  it("runs jobs of one key in turn, in order of submission, and others beside them", async () => {
    const { lines, job } = diary();
    const first = gate();
    const running = [
      withMutationKeys(["a"], job("first", first.passed)),
      withMutationKeys(["a"], job("second")),
      withMutationKeys(["a"], job("third")),
      withMutationKeys(["b"], job("other")),
    ];
    await running[3];
    expect(lines).toEqual(["first begins", "other begins", "other ends"]);
    first.open();
    expect(await Promise.all(running)).toEqual(["first", "second", "third", "other"]);
    expect(lines.slice(3)).toEqual(["first ends", "second begins", "second ends", "third begins", "third ends"]);
  });

  it("releases the key of a job that rejects or throws at once", async () => {
    const failing = withMutationKeys(["a"], () => Promise.reject(new Error("broken")));
    const throwing = withMutationKeys(["a"], () => {
      throw new Error("thrown");
    });
    const next = withMutationKeys(["a"], async () => "next");
    await expect(failing).rejects.toThrow("broken");
    await expect(throwing).rejects.toThrow("thrown");
    expect(await next).toBe("next");
  });

  it("says how many stand before a job that has to wait, and nothing to one that does not", async () => {
    const first = gate();
    const queued: string[] = [];
    const onQueued = (key: string, waiting: number) => queued.push(`${key} ${waiting}`);
    const jobs = [0, 1, 2].map(() => withMutationKeys(["a"], () => first.passed, { onQueued }));
    expect(queued).toEqual(["a 1", "a 2"]);
    first.open();
    await Promise.all(jobs);
  });

  it("Q03 forgets idle keys", async () => {
    await Promise.all(Array.from({ length: 10_000 }, (_, index) => withMutationKeys([`key ${index}`], async () => index)));
    expect(mutationKeysInUse()).toBe(0);
  });

  it("gives a job the async context of its caller, not that of the job before it", async () => {
    const context = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const submit = (name: string) =>
      context.run(name, () =>
        withMutationKeys(["a"], async () => {
          await turn();
          seen.push([name, context.getStore()]);
        }),
      );
    await Promise.all(["one", "two", "three"].map(submit));
    expect(seen).toEqual(["one", "two", "three"].map((name) => [name, name]));
  });

  it("shares its registry with another copy of this module", async () => {
    const path = "../../src/contract/mutation-queue.js?another-copy";
    const copy = (await import(path)) as { withMutationKeys: typeof withMutationKeys };
    expect(copy.withMutationKeys).not.toBe(withMutationKeys);
    const { lines, job } = diary();
    await Promise.all([withMutationKeys(["a"], job("ours")), copy.withMutationKeys(["a"], job("theirs"))]);
    expect(lines).toEqual(["ours begins", "ours ends", "theirs begins", "theirs ends"]);
    expect(await withMutationKeys(["a"], () => copy.withMutationKeys(["a"], async () => "inside"))).toBe("inside");
  });
});

describe("aborts", () => {
  it("Q04 takes a waiter out of the line at once and never runs it", async () => {
    const { lines, job } = diary();
    const first = gate();
    const controller = new AbortController();
    const holder = withMutationKeys(["a"], job("holder", first.passed));
    const waiter = withMutationKeys(["a"], job("waiter"), { signal: controller.signal });
    controller.abort();
    await expect(waiter).rejects.toMatchObject({ code: "aborted" });
    const queued: number[] = [];
    const last = withMutationKeys(["a"], job("last"), { onQueued: (_, waiting) => queued.push(waiting) });
    expect(queued).toEqual([1]);
    first.open();
    await Promise.all([holder, last]);
    expect(lines).toEqual(["holder begins", "holder ends", "last begins", "last ends"]);
  });

  it("rejects what the signal stands for: a timeout stays one", async () => {
    const first = gate();
    const holder = withMutationKeys(["a"], () => first.passed);
    const controller = new AbortController();
    const waiter = withMutationKeys(["a"], async () => "never", { signal: controller.signal });
    controller.abort(new GloveboxError("timeout", "5 s were allowed."));
    await expect(waiter).rejects.toMatchObject({ code: "timeout", message: "5 s were allowed." });
    first.open();
    await holder;
  });

  it("does not run a job whose signal has fired already", async () => {
    const { lines, job } = diary();
    await expect(withMutationKeys(["a"], job("late"), { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "aborted" });
    expect(lines).toEqual([]);
  });

  it("keeps the key of an aborted job until it has settled", async () => {
    const { lines, job } = diary();
    const first = gate();
    const controller = new AbortController();
    const holder = withMutationKeys(["a"], job("holder", first.passed), { signal: controller.signal });
    const next = withMutationKeys(["a"], job("next"));
    controller.abort();
    await turn();
    expect(lines).toEqual(["holder begins"]);
    first.fail(new Error("killed"));
    await expect(holder).rejects.toThrow("killed");
    await next;
    expect(lines).toEqual(["holder begins", "holder ends", "next begins", "next ends"]);
  });

  it("releases the keys that a waiter for several had taken", async () => {
    const first = gate();
    const controller = new AbortController();
    const holder = withMutationKeys(["b"], () => first.passed);
    const waiter = withMutationKeys(["a", "b"], async () => "never", { signal: controller.signal });
    controller.abort();
    await expect(waiter).rejects.toMatchObject({ code: "aborted" });
    expect(await withMutationKeys(["a"], async () => "free")).toBe("free");
    first.open();
    await holder;
  });
});

describe("re-entrance", () => {
  it("runs at once inside a job that holds the key", async () => {
    expect(await withMutationKeys(["a"], () => withMutationKeys(["a"], () => withMutationKeys(["a"], async () => "deep")))).toBe("deep");
  });

  it("takes siblings that share a key in turn", async () => {
    const { lines, job } = diary();
    await withMutationKeys(["a"], () => Promise.all([withMutationKeys(["a"], job("one")), withMutationKeys(["a"], job("two"))]));
    expect(lines).toEqual(["one begins", "one ends", "two begins", "two ends"]);
  });

  it("takes cousins that share a key in turn", async () => {
    const { lines, job } = diary();
    const branch = (own: string, name: string) => withMutationKeys([own], () => withMutationKeys(["a"], job(name)));
    await withMutationKeys(["a"], () => Promise.all([branch("b", "one"), branch("c", "two")]));
    expect(lines).toEqual(["one begins", "one ends", "two begins", "two ends"]);
  });

  it("holds the key until a job inside that nobody awaited has settled", async () => {
    const { lines, job } = diary();
    const forgotten = gate();
    const outer = withMutationKeys(["a"], async () => {
      void withMutationKeys(["a"], job("forgotten", forgotten.passed));
    });
    const next = withMutationKeys(["a"], job("next"));
    await turn();
    expect(lines).toEqual(["forgotten begins"]);
    forgotten.open();
    await Promise.all([outer, next]);
    expect(lines).toEqual(["forgotten begins", "forgotten ends", "next begins", "next ends"]);
  });

  it("is over when the outer job is: what it left behind waits like everybody", async () => {
    const { lines, job } = diary();
    const later = gate();
    let left: Promise<string> | undefined;
    await withMutationKeys(["a"], async () => {
      left = later.passed.then(() => withMutationKeys(["a"], job("left")));
    });
    const held = gate();
    const holder = withMutationKeys(["a"], job("holder", held.passed));
    later.open();
    await turn();
    held.open();
    await Promise.all([holder, left]);
    expect(lines).toEqual(["holder begins", "holder ends", "left begins", "left ends"]);
  });
});

describe("deadlocks", () => {
  it("Q05 takes several keys in one order, whatever the order they are named in", async () => {
    const jobs = Array.from({ length: 2_000 }, (_, index) => {
      const pair = [`k${index % 7}`, `k${(index * 3) % 5}`];
      return withMutationKeys(index % 2 === 0 ? pair : pair.reverse(), async () => index);
    });
    expect(await Promise.all(jobs)).toHaveLength(2_000);
  });

  it("rejects busy when two jobs would wait for each other, and lets the other one go on", async () => {
    const both = [gate(), gate()] as const;
    const nested = (own: string, other: string, mine: 0 | 1) =>
      withMutationKeys([own], async () => {
        both[mine].open();
        await both[1 - mine]?.passed;
        return await withMutationKeys([other], async () => `${own} then ${other}`);
      });
    const settled = await Promise.allSettled([nested("a", "b", 0), nested("b", "a", 1)]);
    const [won, lost] = settled[0].status === "fulfilled" ? settled : settled.toReversed();
    expect(won).toMatchObject({ status: "fulfilled" });
    expect(lost).toMatchObject({ status: "rejected", reason: { code: "busy", retrySafe: false } });
  });

  it("sees a circle of three, through waiters that hold other keys", async () => {
    const all = gate();
    let ready = 0;
    const nested = (own: string, other: string) =>
      withMutationKeys([own], async () => {
        ready += 1;
        if (ready === 3) all.open();
        await all.passed;
        return await withMutationKeys([other], async () => "done");
      });
    const settled = await Promise.allSettled([nested("a", "b"), nested("b", "c"), nested("c", "a")]);
    expect(settled.filter(({ status }) => status === "rejected")).toMatchObject([{ reason: { code: "busy" } }]);
  });

  it("waits, whatever the order, for a job that will end by itself", async () => {
    const first = gate();
    const holder = withMutationKeys(["a"], () => first.passed);
    const nested = withMutationKeys(["b"], () => withMutationKeys(["a"], async () => "waited"));
    await turn();
    first.open();
    await holder;
    expect(await nested).toBe("waited");
  });
});
