import { describe, expect, it } from "vitest";
import { memory } from "../adapters/memory/index.js";
import type { GloveboxEvent } from "../src/contract/events.js";
import type { Connection, Layer, Target } from "../src/contract/target.js";
import { openEnvironment } from "../src/environment.js";
import { intercept } from "../src/layers/intercept.js";
import { changed } from "./layers/scripted.js";

const text = (data: Uint8Array): string => new TextDecoder().decode(data);

describe("openEnvironment", () => {
  it("gives all eight verbs to a target that has five", async () => {
    await using environment = await openEnvironment(memory({ files: { "a/x.ts": "hello\nworld\n", "b.md": "hello" } }));
    const found = await environment.find(".", { pattern: "*.ts", limit: 10 });
    const grepped = await environment.grep(".", { pattern: "w.rld", limit: 10 });

    expect(text((await environment.readFile("b.md")).data)).toBe("hello");
    expect(found.paths).toEqual([{ path: "a/x.ts", kind: "file" }]);
    expect(grepped.lines).toEqual([{ path: "a/x.ts", line: 2, text: "world", kind: "match" }]);
    await expect(environment.exec("ls")).rejects.toMatchObject({
      code: "unsupported",
      message:
        "memory: cannot run commands: it has files and no processes. Use the file verbs, or open a target with a shell: local:PATH, docker://CONTAINER/PATH or ssh://USER@HOST/PATH.",
    });
  });

  it("tells where it is, and shows what the adapter adds", async () => {
    let opened = 0;
    const counting = {
      get opened() {
        return opened;
      },
    };
    const inner = memory({ cwd: "/srv" });
    const target: Target<typeof counting> = {
      ...inner,
      connect: async (options) => ({ ...(await inner.connect(options)), extras: counting }),
    };
    const environment = await openEnvironment(target, { layers: [intercept((_call, next) => next())] });

    expect(environment).toMatchObject({ kind: "memory", label: "memory:", cwd: "/srv", home: "/home/user", opened: 0 });
    expect(environment.root).toBeUndefined();
    expect(environment.capabilities.symlinks).toBe(true);
    expect(await environment.describe()).toMatchObject({ kind: "memory" });
    opened = 3;
    expect(environment.opened).toBe(3);
  });

  it("refuses an adapter's extra that would hide a verb, and closes the connection", async () => {
    const closed: string[] = [];
    const target = changed(memory(), () => ({ extras: { readFile: () => "lies" } as never, close: async () => void closed.push("once") }));
    await expect(openEnvironment(target)).rejects.toMatchObject({ code: "unexpected", target: "memory:", verb: "connect" });
    expect(closed).toEqual(["once"]);
  });

  it("puts the caller's layers outside the ones that are always on, the first outermost", async () => {
    const seen: string[] = [];
    const note = (name: string): Layer =>
      intercept((call, next) => {
        seen.push(`${name} ${call.path}`);
        return next();
      });
    const environment = await openEnvironment(memory({ files: { "a.txt": "" } }), { layers: [note("outer"), note("inner")] });
    await environment.stat("a.txt");
    expect(seen).toEqual(["outer a.txt", "inner a.txt"]);
    expect(environment.calls.map(({ verb, path }) => `${verb} ${path}`)).toEqual(["stat /workspace/a.txt"]);
  });

  it("reports connecting and closing, and what the adapter reports meanwhile", async () => {
    const events: GloveboxEvent[] = [];
    const swept: GloveboxEvent = { type: "target_swept", target: "memory:", removed: 2, what: "temporary files" };
    const target = changed(memory(), (_connection, { onEvent }) => {
      onEvent?.(swept);
      return {};
    });
    const environment = await openEnvironment(target, { onEvent: (event) => events.push(event) });
    environment.emit({ type: "target_lost", target: "memory:", message: "The link broke." });
    await Promise.all([environment.close(), environment.close()]);
    await environment[Symbol.asyncDispose]();

    expect(events).toEqual([
      swept,
      { type: "target_connected", target: "memory:" },
      { type: "target_lost", target: "memory:", message: "The link broke." },
      { type: "target_closed", target: "memory:" },
    ]);
  });

  it("closes the connection once, and refuses every verb from then on", async () => {
    const closed: string[] = [];
    const environment = await openEnvironment(changed(memory(), () => ({ close: async () => void closed.push("once") })));
    {
      await using _scope = environment;
    }
    await environment.close();
    expect(closed).toEqual(["once"]);
    for (const call of [environment.readFile("a"), environment.exec("true"), environment.find(".", { pattern: "*", limit: 1 })]) {
      await expect(call).rejects.toMatchObject({ code: "gone", message: "The environment memory: is closed. Open a new one to go on." });
    }
  });

  it("rejects with a GloveboxError whatever the adapter throws, at connecting and at closing", async () => {
    const broken: Target = { kind: "broken", label: "broken:", connect: () => Promise.reject(new TypeError("x is not a function")) };
    await expect(openEnvironment(broken)).rejects.toMatchObject({ code: "unexpected", target: "broken:", verb: "connect" });
    const stuck = await openEnvironment(changed(memory(), () => ({ close: () => Promise.reject(new Error("EBUSY")) })));
    await expect(stuck.close()).rejects.toMatchObject({ code: "unexpected", target: "memory:", verb: "close" });
  });

  it("is not opened when its signal has fired, and leaves no connection behind", async () => {
    const closed: string[] = [];
    const abort = new AbortController();
    const late = changed(memory(), () => {
      abort.abort();
      return { close: async () => void closed.push("late") };
    });
    await expect(openEnvironment(late, { signal: abort.signal })).rejects.toMatchObject({ code: "aborted", verb: "connect" });
    expect(closed).toEqual(["late"]);
    await expect(openEnvironment(memory(), { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "aborted", retrySafe: true });
  });

  it("closes the connection when a layer cannot be put on", async () => {
    const closed: string[] = [];
    const target = changed(memory(), () => ({ close: async () => void closed.push("once") }));
    const bad: Layer = () => {
      throw new Error("no such secret");
    };
    await expect(openEnvironment(target, { layers: [bad] })).rejects.toMatchObject({ code: "unexpected" });
    expect(closed).toEqual(["once"]);
  });
});

describe("confinement", () => {
  const files = { "/etc/secret": "s", "/workspace/in/a.txt": "a", "/workspace/in/out": { symlink: "/etc" } };
  const rooted = (confinement: Connection["capabilities"]["confinement"]) =>
    changed(memory({ files }), ({ capabilities }) => ({ root: "/workspace/in", capabilities: { ...capabilities, confinement } }));

  it("is added where the adapter has a root and no check of its own", async () => {
    const environment = await openEnvironment(rooted("boundary"));
    expect(environment.capabilities.confinement).toBe("checked");
    await expect(environment.readFile("in/out/secret")).rejects.toMatchObject({ code: "outside_root", path: "/workspace/in/out/secret" });
    expect(text((await environment.readFile("in/a.txt")).data)).toBe("a");
  });

  it("is left to the adapter that says it confines", async () => {
    const environment = await openEnvironment(rooted("race_free"));
    expect(environment.capabilities.confinement).toBe("race_free");
    await environment.stat("in/a.txt");
    expect(environment.calls.map(({ verb }) => verb)).toEqual(["stat"]);
  });
});
