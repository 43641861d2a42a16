import { describe, expect, it, onTestFinished } from "vitest";
import { type MemoryOptions, memory } from "../../../adapters/memory/index.js";
import { createTools, openEnvironment } from "../../../src/index.js";
import { imageTypeOf } from "../../../src/integrations/pi/image-type.js";
import { piOperations } from "../../../src/integrations/pi/index.js";
import { pixelFile } from "../pixel.js";
import { describePlaces } from "../places.js";

async function setUp(options: MemoryOptions = {}) {
  const environment = await openEnvironment(memory({ cwd: "/w", ...options }));
  onTestFinished(() => environment.close());
  return { environment, operations: piOperations(environment) };
}

describe("Pi's operations: edit and write", () => {
  it("bind an edit's write to what its read saw", async () => {
    const { environment, operations } = await setUp({ files: { "a.txt": "one" } });
    expect((await operations.edit.readFile("/w/a.txt")).toString()).toBe("one");
    await environment.writeFile("a.txt", Buffer.from("somebody else's"));
    await expect(operations.edit.writeFile("/w/a.txt", "two")).rejects.toMatchObject({ code: "conflict" });
    expect(environment.snapshot()).toEqual({ "a.txt": "somebody else's" });
    await operations.edit.readFile("/w/a.txt");
    await operations.edit.writeFile("/w/a.txt", "two");
    await operations.write.writeFile("/w/a.txt", "three");
    expect(environment.snapshot()).toEqual({ "a.txt": "three" });
  });

  it("wait for their turn among our own tools", async () => {
    const { environment, operations } = await setUp({ files: { "a.txt": "0" } });
    const [edit] = createTools(environment, { names: ["edit"] });
    const signal = new AbortController().signal;
    const ours = edit?.execute({ path: "a.txt", edits: [{ oldText: "0", newText: "1" }] }, { id: "1", signal, onUpdate: () => undefined });
    await operations.write.writeFile("/w/./a.txt", "2");
    expect((await ours)?.isError).toBe(false);
    expect(environment.snapshot()).toEqual({ "a.txt": "2" });
  });

  it("make parents in the write itself", async () => {
    const { environment, operations } = await setUp();
    await operations.write.mkdir("/w/a/b");
    await operations.write.writeFile("/w/a/b/c.txt", "é");
    expect(environment.snapshot()).toEqual({ "a/b/c.txt": "é" });
    expect(environment.calls.filter(({ verb }) => verb === "writeFile").length).toBe(1);
  });
});

describe("Pi's operations: read", () => {
  it("say in one trip that a file cannot be read", async () => {
    const { environment, operations } = await setUp({ files: { "d/a.txt": "x" } });
    await operations.read.access("/w/d/a.txt");
    expect(environment.calls.length).toBe(1);
    await expect(operations.read.access("/w/d")).rejects.toMatchObject({ code: "is_directory" });
    await expect(operations.edit.access("/w/missing")).rejects.toMatchObject({ code: "not_found" });
  });

  it("tell images by their first bytes, as Pi does", () => {
    const bytes = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));
    const bitmap = new Uint8Array(40);
    bitmap.set(bytes("BM"));
    bitmap[14] = 40;
    expect(imageTypeOf(pixelFile())).toBe("image/png");
    expect(imageTypeOf(bytes("\x89PNG\r\n\x1a\n....IHDR....acTL....IDAT"))).toBeNull();
    expect(imageTypeOf(bytes("\x89PNG\r\n\x1a\n....IHDR....IDAT..acTL"))).toBe("image/png");
    expect(imageTypeOf(bytes("\xff\xd8\xff\xe0"))).toBe("image/jpeg");
    expect(imageTypeOf(bytes("GIF89a"))).toBe("image/gif");
    expect(imageTypeOf(bytes("RIFF....WEBPVP8 "))).toBe("image/webp");
    expect(imageTypeOf(bitmap)).toBe("image/bmp");
    for (const text of ["", "BM", "BMW is a make of car, and this is text", "RIFF....WAVE", "GIF88a", "plain"])
      expect(imageTypeOf(bytes(text))).toBeNull();
  });

  it("stream a file without holding it", async () => {
    const { operations } = await setUp({ files: { "large.txt": "0123456789".repeat(250_000) } });
    const sizes: number[] = [];
    for await (const chunk of operations.read.createReadStream("/w/large.txt", {})) sizes.push(chunk.length);
    expect(sizes).toEqual([1_048_576, 1_048_576, 402_848]);
  });
});

describe("Pi's operations: ls, find, grep", () => {
  it("ask for a directory once, however many entries Pi asks about", async () => {
    const files = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`d/f${index}`, "x"]));
    const {
      environment,
      operations: { ls },
    } = await setUp({ files: { ...files, "d/sub/x": "x" } });
    environment.disk.put("d/link", { symlink: "sub" });
    environment.disk.put("d/broken", { symlink: "nowhere" });
    const list = async () => {
      expect(await ls.exists("/w/d")).toBe(true);
      expect((await ls.stat("/w/d")).isDirectory()).toBe(true);
      const kinds: Record<string, boolean> = {};
      for (const name of await ls.readdir("/w/d")) {
        await ls.stat(`/w/d/${name}`).then(
          (stat) => Object.assign(kinds, { [name]: stat.isDirectory() }),
          () => undefined,
        );
      }
      return kinds;
    };
    const kinds = await list();
    expect(Object.keys(kinds).length).toBe(52);
    expect(kinds).toMatchObject({ f0: false, sub: true, link: true });
    expect(kinds).not.toHaveProperty("broken");
    expect(environment.calls.length).toBe(4);

    // What a listing knew is not told to the next one.
    environment.disk.remove("d/f0");
    environment.disk.put("d/f0", { directory: true });
    expect(await list()).toMatchObject({ f0: true });
  });

  it("say that nothing is there, and reject for anything else", async () => {
    const { environment, operations } = await setUp({ files: { "a.txt": "x" } });
    expect(await operations.ls.exists("/w/no")).toBe(false);
    expect(await operations.find.exists("/w/a.txt")).toBe(true);
    await environment.close();
    await expect(operations.find.exists("/w/a.txt")).rejects.toMatchObject({ code: "gone" });
  });

  it("leave out what Pi ignores and still find as many as asked for", async () => {
    const noise = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`node_modules/p${index}/a.ts`, ""]));
    const { operations } = await setUp({ files: { ...noise, "src/a.ts": "", "src/z/b.ts": "", "z.ts": "" } });
    const ignore = ["**/node_modules/**", "**/.git/**", "{odd,pattern}"];
    const glob = (limit: number) => operations.find.glob("*.ts", "/w", { ignore, limit });
    expect(await glob(10)).toEqual(["src/a.ts", "src/z/b.ts", "z.ts"]);
    expect(await glob(2)).toEqual(["src/a.ts", "src/z/b.ts"]);
    expect(await operations.find.glob("z", "/w", { ignore: [], limit: 5 })).toEqual(["src/z/"]);
  });

  it("tell a directory from a file for grep", async () => {
    const { operations } = await setUp({ files: { "d/a.txt": "text" } });
    expect(await operations.grep.isDirectory("/w/d")).toBe(true);
    expect(await operations.grep.isDirectory("/w/d/a.txt")).toBe(false);
    await expect(operations.grep.isDirectory("/w/no")).rejects.toMatchObject({ code: "not_found" });
    expect(await operations.grep.readFile("/w/d/a.txt")).toBe("text");
  });
});

describePlaces("Pi's operations: bash", (environment) => {
  const exec = async (command: string, options: object = {}) => {
    const chunks: Buffer[] = [];
    const onData = (data: Buffer): number => chunks.push(data);
    const { exitCode } = await piOperations(environment()).bash.exec(command, environment().cwd, { onData, ...options });
    return { exitCode, output: Buffer.concat(chunks).toString() };
  };

  it("pass on what Pi says of its session, and nothing of the host's environment", async () => {
    const env = {
      PATH: "/nowhere",
      SECRET_CANARY: "x",
      PI_SESSION_ID: "s1",
      PI_SESSION_FILE: "/host/file",
      PI_MODEL: "m",
      PI_PROVIDER: undefined,
    };
    const { output } = await exec("env", { env: { ...process.env, ...env } });
    expect(output).toContain("PI_SESSION_ID=s1\n");
    expect(output).toContain("PI_MODEL=m\n");
    expect(output).not.toMatch(/SECRET_CANARY|PI_SESSION_FILE|PI_PROVIDER|\/nowhere|VITEST/);
  });

  it("end a command in Pi's words", async () => {
    await expect(exec("sleep 60", { timeout: 0.2 })).rejects.toThrow(/^timeout:0\.2$/);
    await expect(exec("sleep 60", { signal: AbortSignal.timeout(200) })).rejects.toThrow(/^aborted$/);
    await expect(exec("true", { signal: AbortSignal.abort() })).rejects.toThrow(/^aborted$/);
    expect(await exec("kill -KILL $$")).toEqual({ exitCode: 137, output: "" });
    expect(await exec("exit 7", { timeout: 60 })).toEqual({ exitCode: 7, output: "" });
  });

  it("refuse a timeout that is none, and a directory that is not there", async () => {
    for (const timeout of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e9]) {
      await expect(exec("true", { timeout })).rejects.toMatchObject({ code: "invalid_argument" });
    }
    const { bash } = piOperations(environment());
    await expect(bash.exec("true", "/no/such/directory", { onData: () => undefined })).rejects.toMatchObject({ code: "not_started" });
  });
});
