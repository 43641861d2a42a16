import { execFileSync } from "node:child_process";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeTarget } from "../../support/describe-target.js";
import { afterwards, bytes, codeOf, makeScene, nodeArguments, open, start } from "./scene.js";

describeTarget("local", "special files", () => {
  it("L05 P24 six reads of FIFOs reject at once, a plain read goes on, and the process ends by itself", async () => {
    const { root } = makeScene();
    execFileSync("mkfifo", [join(root, "fifo")]);
    const { stdout, exitCode } = await start(process.execPath, await nodeArguments(new URL("./fifo-program.ts", import.meta.url), root))
      .done;
    expect(JSON.parse(stdout)).toEqual({
      reads: Array(6).fill("not_regular"),
      lines: "not_regular",
      write: "not_regular",
      grep: "not_regular",
      plain: "plain",
    });
    expect(exitCode).toBe(0);
  });

  it("P24 a reader that waits at the FIFO is not disturbed", async () => {
    const { root } = makeScene();
    execFileSync("mkfifo", [join(root, "fifo")]);
    const environment = await open(root);
    const writer = start("sh", ["-c", 'echo waiting; echo data > "$1"; echo done', "sh", join(root, "fifo")]);
    await writer.said("waiting");
    for (let round = 0; round < 20; round += 1) expect(await codeOf(environment.readFile("fifo"))).toBe("not_regular");
    const reader = start("cat", [join(root, "fifo")]);
    expect((await reader.done).stdout).toBe("data\n");
  });

  it("P24 sockets are neither read nor written, and searches pass over special files", async () => {
    const { root } = makeScene();
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(root, "socket"), resolve));
    afterwards(() => server.close());
    execFileSync("mkfifo", [join(root, "fifo")]);
    const environment = await open(root);
    await environment.writeFile("a.txt", bytes("needle\n"));
    expect(await codeOf(environment.readFile("socket"))).toBe("not_regular");
    expect(await codeOf(environment.writeFile("socket", bytes("x")))).toBe("not_regular");
    const found = await environment.grep(".", { pattern: "needle", limit: 10 });
    expect(found.lines).toEqual([{ path: "a.txt", line: 1, kind: "match", text: "needle" }]);
  });

  it.runIf(process.getuid?.() === 0)("P23 devices of the workspace are refused, and nothing happens to them", async () => {
    const { root } = makeScene();
    execFileSync("mknod", [join(root, "zero"), "c", "1", "5"]);
    execFileSync("mknod", [join(root, "loop"), "b", "7", "99"]);
    const environment = await open(root);
    for (const name of ["zero", "loop"]) {
      expect(await codeOf(environment.readFile(name, { bytes: { offset: 0, length: 10 } })), name).toBe("not_regular");
      expect(await codeOf(environment.writeFile(name, bytes("x"))), name).toBe("not_regular");
    }
    expect((await environment.readdir(".")).map(({ name, kind }) => `${name} ${kind}`).sort()).toEqual([
      "loop block_device",
      "zero character_device",
    ]);
  });
});
