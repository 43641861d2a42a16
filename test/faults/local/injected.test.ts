import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { mutationKeysInUse } from "../../../src/contract/mutation-queue.js";
import { bytes, codeOf, hasProgram, makeScene, nodeArguments, open, openDescriptors, start, text } from "../../adapters/local/scene.js";
import { describeTarget } from "../../support/describe-target.js";
import { seededRandom, trials } from "./trials.js";

const writeOnce = new URL("./write-once-program.ts", import.meta.url);

describeTarget("local", "failures of the disk and aborts at any moment", () => {
  for (const [what, injection, code, content] of [
    ["the fsync of the file fails", "fsync:error=EIO:when=1", "unexpected", "old"],
    ["the fsync of the directory fails", "fsync:error=EIO:when=2", "unknown_outcome", "new"],
    ["the rename is across devices", "rename:error=EXDEV", "unexpected", "old"],
    ["the rename is not permitted", "rename:error=EPERM", "permission_denied", "old"],
    ["the mode cannot be set", "fchmod:error=EPERM", "permission_denied", "old"],
  ] as const) {
    it.runIf(hasProgram("strace"))(
      `R22 P1 when ${what} the write is ${code}, the file has its ${content} bytes and nothing is left`,
      async () => {
        const { root } = makeScene();
        writeFileSync(join(root, "f"), "old");
        const program = await nodeArguments(writeOnce, root, "f", "new");
        // strace counts the calls of each thread apart.
        const trace = ["-f", "-o", "/dev/null", "-e", `inject=${injection}`, process.execPath, ...program];
        const { stdout, stderr } = await start("strace", trace, { UV_THREADPOOL_SIZE: "1" }).done;
        expect(stdout, stderr).toBe(code);
        expect(readFileSync(join(root, "f"), "utf8")).toBe(content);
        expect(readdirSync(root)).toEqual(["f"]);
      },
    );
  }

  it("R03 a process that is stopped in the middle of its writes goes on where it was", { timeout: 120_000 }, async () => {
    const { root } = makeScene();
    const child = start(
      process.execPath,
      await nodeArguments(new URL("./writer-program.ts", import.meta.url), root, "f", "1000000", "ours"),
    );
    await child.said("\n3\n");
    for (let round = 0; round < 5; round += 1) {
      child.process.kill("SIGSTOP");
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(readFileSync(join(root, "f")).byteLength).toBe(1_000_000);
      child.process.kill("SIGCONT");
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    child.process.kill("SIGKILL");
    await child.done;
  });

  it("R32 P4 P5 P14 aborts at random moments settle everything, and leave no key, no descriptor and no file", {
    timeout: 120_000 + trials * 1_000,
  }, async () => {
    const { root } = makeScene();
    const environment = await open(root);
    await environment.writeFile("f", bytes("old"));
    await environment.exec("true");
    const descriptors = openDescriptors();
    const { seed, next } = seededRandom();
    for (let trial = 0; trial < trials; trial += 1) {
      const controller = new AbortController();
      const { signal } = controller;
      const calls = [
        environment.writeFile("f", new Uint8Array(3_000_000), { signal }),
        environment.writeFile("f", bytes("other"), { signal }),
        environment.writeFile(`new-${trial}/g`, bytes("g"), { signal, ifMatch: null }),
        environment.readFile("f", { signal, lines: { start: 1, count: 5 } }),
        environment.grep(".", { pattern: "x", limit: 5 }, { signal }),
        environment.exec("sleep 30 & sleep 30", { signal }),
      ].map(codeOf);
      setTimeout(() => controller.abort(), next() * 40);
      const codes = await Promise.all(calls);
      expect(
        codes.filter((code) => !["resolved", "aborted"].includes(code)),
        `FAULTS_SEED=${seed}, trial ${trial}`,
      ).toEqual([]);
      expect(codes.at(-1)).toBe("aborted");
    }
    await environment.writeFile("f", bytes("after"));
    expect(text((await environment.readFile("f")).data)).toBe("after");
    expect(mutationKeysInUse()).toBe(0);
    expect(readdirSync(root).filter((name) => !/^(f|new-\d+)$/.test(name))).toEqual([]);
    for (const name of readdirSync(root).filter((each) => each.startsWith("new-")))
      expect(readdirSync(join(root, name)), "no empty parent stays").toEqual(["g"]);
    expect(openDescriptors()).toBeLessThanOrEqual(descriptors + 4);
  });
});
