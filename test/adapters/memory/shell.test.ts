import { createRequire } from "node:module";
import { describe, expect, it } from "vitest";
import { type MemoryOptions, memory } from "../../../adapters/memory/index.js";
import { openEnvironment } from "../../../src/environment.js";
import { collectOutput } from "./collect-output.js";

const require = createRequire(import.meta.url);
const installed = (() => {
  try {
    return require.resolve("just-bash") !== "";
  } catch {
    return false;
  }
})();

const open = (options: MemoryOptions = {}) => openEnvironment(memory({ shell: "just-bash", ...options }));

describe.runIf(installed)("the shell just-bash", () => {
  it("runs commands on the files in memory and takes over what they change", async () => {
    await using environment = await open({
      files: {
        "a.txt": "hello\n",
        "bin/tool": { data: "x", mode: 0o755 },
        link: { symlink: "a.txt" },
        old: "x",
        raw: Uint8Array.of(255, 0),
      },
    });
    const command =
      "cat a.txt link | tr a-z A-Z; echo new > sub.txt; mkdir -p d/e; rm old; chmod 600 a.txt; ln -s sub.txt to; echo oops >&2; exit 3";
    expect(await collectOutput(environment, command)).toEqual({ stdout: "HELLO\nHELLO\n", stderr: "oops\n", exitCode: 3 });
    expect(environment.snapshot()).toEqual({
      "a.txt": { data: "hello\n", mode: 0o600 },
      "bin/tool": { data: "x", mode: 0o755 },
      "d/e": { directory: true },
      link: { symlink: "a.txt" },
      raw: Uint8Array.of(255, 0),
      "sub.txt": "new\n",
      to: { symlink: "sub.txt" },
    });
  });

  it("keeps no state between commands but the files", async () => {
    await using environment = await open();
    await environment.exec("cd /tmp; export LEFT=behind; echo kept > /tmp/file");
    expect((await collectOutput(environment, 'pwd; echo "[$LEFT]"; cat /tmp/file')).stdout).toBe("/workspace\n[]\nkept\n");
  });

  it("gives the command its environment, its stdin and its working directory, and nothing of ours", async () => {
    process.env.GLOVEBOX_CANARY = "secret";
    await using environment = await open({ files: { "sub/x": "1" } });
    let stdout = "";
    await environment.exec("cat; pwd; echo $GIVEN $HOME; env", {
      cwd: "sub",
      env: { GIVEN: "yes" },
      stdin: new TextEncoder().encode("in\n"),
      onOutput(chunk) {
        stdout += new TextDecoder().decode(chunk);
      },
    });
    delete process.env.GLOVEBOX_CANARY;
    expect(stdout).toMatch(/^in\n\/workspace\/sub\nyes \/home\/user\n/);
    expect(stdout).not.toContain("secret");
  });

  it("an abort ends a busy loop at once, and nothing that it did is kept", async () => {
    await using environment = await open();
    await environment.exec("true");
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), 200);
    await expect(environment.exec("echo x > never; while true; do :; done", { signal: controller.signal })).rejects.toMatchObject({
      code: "aborted",
    });
    clearTimeout(timer);
    expect(environment.snapshot()).toEqual({});
    expect((await collectOutput(environment, "echo alive")).stdout).toBe("alive\n");
  });

  it("closing the environment ends a busy loop", async () => {
    const environment = await open();
    const run = environment.exec("while true; do :; done");
    const failed = expect(run).rejects.toMatchObject({ code: "gone" });
    await environment.close();
    await failed;
  });

  it("commands side by side each see the files as they were, and both their changes are kept", async () => {
    await using environment = await open();
    const runs = ["one", "two", "three"].map((name) => environment.exec(`echo ${name} > ${name}; sleep 0.05; ls`));
    expect((await Promise.all(runs)).map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
    expect(environment.snapshot()).toEqual({ one: "one\n", two: "two\n", three: "three\n" });
  });

  it("M02 keeps nothing of a command whose files do not fit, and says so", async () => {
    await using environment = await open({ maxBytes: 1000, files: { a: "x" } });
    const { exitCode, stderr } = await collectOutput(environment, "rm a; printf '%2000s' y > big");
    expect([exitCode, stderr]).toEqual([1, "No space left in memory: nothing that this command changed was kept.\n"]);
    expect(environment.snapshot()).toEqual({ a: "x" });
  });

  it("M04 has no network, no node and no files of this machine", async () => {
    await using environment = await open();
    const { stdout } = await collectOutput(
      environment,
      "curl http://127.0.0.1 2>/dev/null; node -e 1 2>/dev/null; cat /etc/passwd 2>/dev/null; ls /sys /root 2>/dev/null; echo end",
    );
    expect(stdout).toBe("end\n");
  });
});

describe.runIf(!installed)("the shell just-bash, not installed", () => {
  it("says what to install", async () => {
    await expect(open()).rejects.toMatchObject({ code: "unsupported", message: expect.stringContaining("npm install just-bash") });
  });
});
