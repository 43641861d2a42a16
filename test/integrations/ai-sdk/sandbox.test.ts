import { describe, expect, it, onTestFinished } from "vitest";
import { type MemoryOptions, memory } from "../../../adapters/memory/index.js";
import { openEnvironment } from "../../../src/index.js";
import { toAiSdkSandbox } from "../../../src/integrations/ai-sdk/index.js";
import { describePlaces } from "../places.js";

async function memorySandbox(options: MemoryOptions = {}) {
  const environment = await openEnvironment(memory(options));
  onTestFinished(() => environment.close());
  return { environment, sandbox: toAiSdkSandbox(environment) };
}

async function textOf(stream: ReadableStream<Uint8Array> | null): Promise<string | null> {
  return stream === null ? null : await new Response(stream).text();
}

describe("the AI SDK's sandbox session: files", () => {
  it("says where it is", async () => {
    expect((await memorySandbox()).sandbox.description).toBe("Sandbox memory:. Working directory: /workspace. No commands can be run.");
  });

  it("reads what is not there as null, and only that", async () => {
    const { sandbox } = await memorySandbox({ files: { "a/b.txt": "x" } });
    const path = "missing.txt";
    expect(await sandbox.readFile({ path })).toBeNull();
    expect(await sandbox.readBinaryFile({ path })).toBeNull();
    expect(await sandbox.readTextFile({ path })).toBeNull();
    expect(await sandbox.stat({ path })).toBeNull();
    expect(await sandbox.listDirectory({ path })).toBeNull();
    await expect(sandbox.readFile({ path: "a" })).rejects.toMatchObject({ code: "is_directory" });
    await expect(sandbox.readBinaryFile({ path: "a" })).rejects.toMatchObject({ code: "is_directory" });
    await expect(sandbox.listDirectory({ path: "a/b.txt" })).rejects.toMatchObject({ code: "not_directory" });
  });

  it("reads bytes, text in an encoding, and ranges of lines", async () => {
    const { sandbox } = await memorySandbox({
      files: { "dos.txt": "a\r\nb\r\nc\r\n", "latin1.txt": new Uint8Array([0xe9, 0x0a]), "empty.txt": "" },
    });
    expect(await sandbox.readBinaryFile({ path: "latin1.txt" })).toEqual(new Uint8Array([0xe9, 0x0a]));
    expect(await sandbox.readTextFile({ path: "latin1.txt", encoding: "latin1" })).toBe("é\n");
    expect(await sandbox.readTextFile({ path: "dos.txt" })).toBe("a\r\nb\r\nc\r\n");
    expect(await sandbox.readTextFile({ path: "dos.txt", startLine: 2, endLine: 2 })).toBe("b");
    expect(await sandbox.readTextFile({ path: "dos.txt", startLine: 2, endLine: 99 })).toBe("b\r\nc\r\n");
    expect(await sandbox.readTextFile({ path: "/workspace/empty.txt" })).toBe("");
    expect(await textOf(await sandbox.readFile({ path: "empty.txt" }))).toBe("");
    await expect(sandbox.readTextFile({ path: "dos.txt", encoding: "klingon" })).rejects.toMatchObject({ code: "invalid_argument" });
  });

  it("streams a file slice by slice, and stops with its reader", async () => {
    const content = new Uint8Array(3_500_000).map((_, index) => index % 251);
    const { environment, sandbox } = await memorySandbox({ files: { "large.bin": content } });
    const chunks: number[] = [];
    const stream = await sandbox.readFile({ path: "large.bin" });
    let at = 0;
    for await (const chunk of stream ?? []) {
      expect(Buffer.compare(chunk, content.subarray(at, at + chunk.length))).toBe(0);
      at += chunk.length;
      chunks.push(chunk.length);
    }
    expect(at).toBe(content.length);
    expect(Math.max(...chunks)).toBeLessThanOrEqual(1024 * 1024);

    const before = environment.calls.length;
    const abandoned = await sandbox.readFile({ path: "large.bin" });
    await abandoned?.cancel();
    expect(environment.calls.length - before).toBeLessThanOrEqual(2);
  });

  it("fails a stream of a file that changes under it", async () => {
    const { environment, sandbox } = await memorySandbox({ files: { "log.txt": "x".repeat(3_000_000) } });
    const stream = await sandbox.readFile({ path: "log.txt" });
    await environment.writeFile("log.txt", Buffer.from("short"));
    await expect(textOf(stream)).rejects.toMatchObject({ code: "conflict" });
  });

  it("writes streams, bytes and text, parents made", async () => {
    const { environment, sandbox } = await memorySandbox();
    await sandbox.writeFile({ path: "a/stream.txt", content: new Blob(["one ", "two"]).stream() });
    await sandbox.writeBinaryFile({ path: "a/bytes.bin", content: new Uint8Array([0, 255]) });
    await sandbox.writeTextFile({ path: "a/text.txt", content: "é", encoding: "latin1" });
    expect(environment.snapshot()).toMatchObject({
      "a/stream.txt": "one two",
      "a/bytes.bin": new Uint8Array([0, 255]),
      "a/text.txt": new Uint8Array([0xe9]),
    });
    await expect(sandbox.writeTextFile({ path: "a", content: "x" })).rejects.toMatchObject({ code: "is_directory" });
  });

  it("tells kinds apart, following links in stat and not in a listing", async () => {
    const { environment, sandbox } = await memorySandbox({ files: { "d/file.txt": "four" } });
    environment.disk.put("d/link", { symlink: "." });
    environment.disk.put("d/pipe", { special: "fifo" });
    expect(await sandbox.stat({ path: "d/file.txt" })).toEqual({ type: "file", size: 4 });
    expect(await sandbox.stat({ path: "d/link" })).toMatchObject({ type: "directory" });
    expect(await sandbox.stat({ path: "d/pipe" })).toMatchObject({ type: "other" });
    const listed = await sandbox.listDirectory({ path: "d" });
    expect(listed?.sort((a, b) => a.name.localeCompare(b.name))).toEqual([
      { name: "file.txt", type: "file" },
      { name: "link", type: "symlink" },
      { name: "pipe", type: "other" },
    ]);
  });

  it("rejects with the signal's reason when aborted, and with unsupported where no command can be run", async () => {
    const { sandbox } = await memorySandbox({ files: { "a.txt": "x" } });
    const reason = new Error("enough");
    const abortSignal = AbortSignal.abort(reason);
    await expect(sandbox.readTextFile({ path: "a.txt", abortSignal })).rejects.toBe(reason);
    await expect(sandbox.writeTextFile({ path: "a.txt", content: "y", abortSignal })).rejects.toBe(reason);
    await expect(sandbox.run({ command: "true", abortSignal })).rejects.toBe(reason);
    await expect(sandbox.spawn({ command: "true", abortSignal })).rejects.toBe(reason);
    await expect(sandbox.deleteFile({ path: "a.txt" })).rejects.toMatchObject({ code: "unsupported" });
    await expect(sandbox.run({ command: "true" })).rejects.toMatchObject({ code: "unsupported" });
    const failed = await sandbox.spawn({ command: "true" });
    await expect(failed.wait()).rejects.toMatchObject({ code: "unsupported" });
  });
});

describePlaces("the AI SDK's sandbox session: commands", (environment) => {
  const sandbox = () => toAiSdkSandbox(environment());

  it("runs a command and tells its output apart", async () => {
    expect(await sandbox().run({ command: 'echo "$GREETING"; echo err >&2; exit 3', env: { GREETING: "hello" } })).toEqual({
      exitCode: 3,
      stdout: "hello\n",
      stderr: "err\n",
    });
    await sandbox().writeTextFile({ path: "sub/here.txt", content: "" });
    expect((await sandbox().run({ command: "ls", workingDirectory: "sub" })).stdout).toBe("here.txt\n");
    expect((await sandbox().run({ command: "kill -KILL $$" })).exitCode).toBe(137);
  });

  it("deletes files and links, not what they lead to, and no directory", async () => {
    const { writeTextFile, deleteFile, stat, run } = sandbox();
    const path = "odd/-rf $(x) 'q'.txt";
    await writeTextFile({ path, content: "x" });
    await run({ command: "ln -s odd link && ln -s nowhere dangling" });
    expect(await deleteFile({ path })).toBe(true);
    expect(await deleteFile({ path })).toBe(false);
    expect(await deleteFile({ path: "no/such/directory.txt" })).toBe(false);
    await expect(deleteFile({ path: "odd" })).rejects.toMatchObject({ code: "is_directory" });
    expect(await deleteFile({ path: "link" })).toBe(true);
    expect(await deleteFile({ path: `${environment().cwd}/dangling` })).toBe(true);
    expect(await stat({ path: "odd" })).toMatchObject({ type: "directory" });
  });

  it("streams the output of a process while it runs", async () => {
    const child = await sandbox().spawn({ command: "echo one; while [ ! -e go ]; do sleep 0.05; done; echo two; echo err >&2; exit 4" });
    const reader = child.stdout.getReader();
    const first = await reader.read();
    expect(Buffer.from(first.value ?? []).toString()).toBe("one\n");
    await sandbox().writeTextFile({ path: "go", content: "" });
    const second = await reader.read();
    expect(Buffer.from(second.value ?? []).toString()).toBe("two\n");
    expect((await reader.read()).done).toBe(true);
    expect(await textOf(child.stderr)).toBe("err\n");
    expect(await child.wait()).toEqual({ exitCode: 4 });
  });

  it("holds a process back when nobody reads, and its memory with it", async () => {
    const child = await sandbox().spawn({ command: "yes | head -c 20000000; echo done >&2" });
    const settled = await Promise.race([
      child.wait().then(() => "ended"),
      new Promise((resolve) => setTimeout(() => resolve("held"), 400)),
    ]);
    expect(settled).toBe("held");
    let bytes = 0;
    for await (const chunk of child.stdout) bytes += chunk.length;
    expect(bytes).toBe(20_000_000);
    expect(await child.wait()).toEqual({ exitCode: 0 });
  });

  it("kills a process that is held back, and all it started", async () => {
    const child = await sandbox().spawn({ command: "setsid sleep 4242 & yes" });
    await new Promise((resolve) => setTimeout(resolve, 200));
    await child.kill();
    await child.kill();
    expect(await child.wait()).toEqual({ exitCode: 143 });
    const { stdout } = await sandbox().run({
      command: "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -c 'sleep 424[2]' || true",
    });
    expect(stdout).toBe("0\n");
  });

  it("ends a process by its signal, whose reason is the rejection", async () => {
    const stop = new AbortController();
    const reason = new Error("enough");
    const child = await sandbox().spawn({ command: "echo started; sleep 60", abortSignal: stop.signal });
    const reader = child.stdout.getReader();
    await reader.read();
    stop.abort(reason);
    await expect(child.wait()).rejects.toBe(reason);
    await expect(reader.read()).rejects.toBe(reason);
  });

  it("lets a process run on whose output nobody wants any more", async () => {
    const child = await sandbox().spawn({ command: "head -c 5000000 /dev/zero; touch finished" });
    await child.stdout.cancel();
    expect(await child.wait()).toEqual({ exitCode: 0 });
    expect(await sandbox().stat({ path: "finished" })).not.toBeNull();
  });

  it("refuses a writable standard input before anything is started", async () => {
    await expect(sandbox().spawn({ command: "touch started; cat", stdin: true })).rejects.toMatchObject({ code: "unsupported" });
    expect(await sandbox().stat({ path: "started" })).toBeNull();
  });
});
