import { describe, expect, it } from "vitest";
import { adapter, type MemoryOptions, memory } from "../../../adapters/memory/index.js";
import { parseTargetUrl } from "../../../src/contract/address.js";
import { openEnvironment } from "../../../src/environment.js";

const open = (options?: MemoryOptions) => openEnvironment(memory(options));
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = async (environment: Awaited<ReturnType<typeof open>>, path: string): Promise<string> =>
  new TextDecoder().decode((await environment.readFile(path)).data);

describe("memory", () => {
  it("is pleasant to test with", async () => {
    await using environment = await open({ files: { "a.txt": "hello", "src/b.ts": "b", link: { symlink: "a.txt" } } });
    await environment.writeFile("new/c.txt", bytes("c"));
    expect(await text(environment, "link")).toBe("hello");
    expect(environment.snapshot()).toEqual({ "a.txt": "hello", "src/b.ts": "b", link: { symlink: "a.txt" }, "new/c.txt": "c" });
    expect(environment.calls.map(({ verb, path, outcome }) => [verb, path, outcome])).toEqual([
      ["writeFile", "/workspace/new/c.txt", "ok"],
      ["readFile", "/workspace/link", "ok"],
    ]);
  });

  it("keeps its files as long as the target lives, and shares them between connections", async () => {
    const target = memory({ files: { a: "1" } });
    const [one, two] = await Promise.all([openEnvironment(target), openEnvironment(target)]);
    expect(one.id).toBe(two.id);
    await one.writeFile("a", bytes("2"));
    expect(await text(two, "a")).toBe("2");
    await Promise.all([one.close(), two.close()]);
    await using three = await openEnvironment(target);
    expect(await text(three, "a")).toBe("2");
    expect(three.calls.length).toBe(1);
    await using other = await open();
    expect(other.id).not.toBe(three.id);
    expect(other.snapshot()).toEqual({});
  });

  it("snapshots what it was seeded with: bytes, modes, links, empty directories, special files", async () => {
    const files = {
      "bin/run.sh": { data: "#!/bin/sh\n", mode: 0o755 },
      "bom.txt": "\ufeffx",
      "broken.bin": Uint8Array.of(255, 254, 0),
      empty: { directory: true },
      fifo: { special: "fifo" },
      link: { symlink: "../nowhere" },
      "z/deep/er": "text",
    } as const;
    await using environment = await open({ files });
    expect(environment.snapshot()).toEqual(files);
    await using again = await open({ files: environment.snapshot() });
    expect(again.snapshot()).toEqual(files);
    expect(environment.snapshot("z")).toEqual({ "deep/er": "text" });
    expect(Object.keys(environment.snapshot("/"))).toContain("workspace/z/deep/er");
  });

  it("M02 refuses what goes beyond its bytes, and keeps what was there", async () => {
    await using environment = await open({ maxBytes: 100, files: { a: "x".repeat(60) } });
    await expect(environment.writeFile("a", new Uint8Array(101))).rejects.toMatchObject({ code: "no_space" });
    await expect(environment.writeFile("deep/b", new Uint8Array(41))).rejects.toMatchObject({ code: "no_space" });
    expect(environment.snapshot()).toEqual({ a: "x".repeat(60) });
    await environment.writeFile("a", new Uint8Array(100));
    await environment.writeFile("a", new Uint8Array(10));
    await environment.writeFile("b", new Uint8Array(90));
    expect(() => environment.disk.put("c", "1")).toThrow(expect.objectContaining({ code: "no_space" }));
  });

  it("M02 refuses what goes beyond its number of files, parents counted", async () => {
    // The root's own five: /workspace, /home, /home/user, /tmp and a.
    await using environment = await open({ maxFiles: 7, files: { a: "1" } });
    await expect(environment.writeFile("x/y/z", bytes("1"))).rejects.toMatchObject({ code: "no_space" });
    expect(environment.snapshot()).toEqual({ a: "1" });
    await environment.writeFile("x/y", bytes("1"));
    await environment.writeFile("x/y", bytes("2"));
    await expect(environment.writeFile("b", bytes("1"))).rejects.toMatchObject({ code: "no_space" });
    environment.disk.remove("x");
    await environment.writeFile("b", bytes("1"));
  });

  it("counts hard links once in bytes and each in files", async () => {
    await using environment = await open({ maxBytes: 100, files: { a: "x".repeat(60) } });
    environment.disk.link("a", "b");
    await environment.writeFile("c", new Uint8Array(40));
    environment.disk.remove("a");
    await expect(environment.writeFile("d", new Uint8Array(1))).rejects.toMatchObject({ code: "no_space" });
    environment.disk.remove("b");
    await environment.writeFile("d", new Uint8Array(60));
  });

  it('with hardLinks "break" a write replaces one name and leaves the other', async () => {
    await using environment = await open({ hardLinks: "break", files: { a: "old" } });
    environment.disk.link("a", "b");
    expect(await environment.writeFile("a", bytes("new"))).toEqual({ canonicalPath: "/workspace/a", created: false });
    expect(environment.snapshot()).toEqual({ a: "new", b: "old" });
    await environment.writeFile("b", bytes("newer"));
  });

  it("moves, touches and removes things past the verbs", async () => {
    await using environment = await open({ files: { "a/x": "1", b: "2" } });
    environment.disk.rename("a", "c/d");
    environment.disk.rename("b", "c/d/x");
    environment.disk.touch("c/d/x", 86_400_000);
    expect(environment.snapshot()).toEqual({ "c/d/x": "2" });
    expect((await environment.stat("c/d/x")).mtimeMs).toBe(86_400_000);
    environment.disk.remove("c");
    environment.disk.remove("c");
    expect(environment.snapshot()).toEqual({});
    expect(environment.calls.map(({ verb }) => verb)).toEqual(["stat"]);
  });

  it("M03 takes names of every object's properties as ordinary names, also in a seed", async () => {
    await using environment = await open({ files: { ["__proto__"]: "p", constructor: "c", "toString/valueOf": "v" } });
    expect(Object.entries(environment.snapshot())).toEqual([
      ["__proto__", "p"],
      ["constructor", "c"],
      ["toString/valueOf", "v"],
    ]);
    expect({}.constructor).toBe(Object);
  });

  it("refuses options that contradict themselves", async () => {
    expect(() => memory({ cwd: "relative" })).toThrow(expect.objectContaining({ code: "invalid_argument" }));
    expect(() => memory({ cwd: "/a/../b" })).toThrow(expect.objectContaining({ code: "invalid_argument" }));
    expect(() => memory({ root: "/a/" })).toThrow(expect.objectContaining({ code: "invalid_argument" }));
    await expect(open({ exec: {}, shell: "just-bash" })).rejects.toMatchObject({ code: "invalid_argument" });
  });

  it("describes itself", async () => {
    await using environment = await open({ files: { a: "12345" } });
    expect(await environment.describe()).toMatchInlineSnapshot(`
      {
        "facts": {
          "bytes": 5,
          "files": 5,
          "maxBytes": 67108864,
        },
        "isolation": "memory: no commands run, no disk or network is touched",
        "kind": "memory",
        "label": "memory:",
        "warnings": [],
      }
    `);
  });
});

describe("memory: URLs", () => {
  const parse = (url: string) => adapter(parseTargetUrl(url));

  it("opens memory: with a working directory", async () => {
    await using plain = await openEnvironment(parse("memory:"));
    expect([plain.cwd, plain.label]).toEqual(["/workspace", "memory:"]);
    await using placed = await openEnvironment(parse("memory:/srv/app"));
    expect(placed.cwd).toBe("/srv/app");
  });

  it.each(["memory:?sed=x", "memory:?seed=", "memory:?shell=zsh", "memory://host/x", "memory:relative"])("refuses %s", (url) => {
    expect(() => parse(url)).toThrow(expect.objectContaining({ code: "invalid_argument" }));
  });
});
