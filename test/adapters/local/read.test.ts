import { execFileSync } from "node:child_process";
import { appendFileSync, closeSync, createReadStream, ftruncateSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { createLineSlicer } from "../../../adapters/local/lines.js";
import { describeTarget } from "../../support/describe-target.js";
import { afterwards, codeOf, makeScene, nodeArguments, open, start, text } from "./scene.js";

/** What a slice of lines is, said in the simplest way. */
function sliceNaively(content: Buffer, from: number, count: number, maxBytes: number) {
  const lines = content.toString("latin1").match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const first = (lines[from - 1] ?? "").replace(/\n$/, "");
  return {
    data: lines
      .slice(from - 1, from - 1 + count)
      .join("")
      .slice(0, maxBytes),
    totalLines: lines.length,
    head: content.subarray(0, 8192).toString("latin1"),
    firstLineBytes: first.length > maxBytes ? first.length : undefined,
  };
}

/** While a version is half written the file is, at that moment, the new letter in front and the one before it behind. */
function isOfOneMoment(data: Uint8Array): boolean {
  const runs =
    Buffer.from(data)
      .toString("latin1")
      .match(/(.)\1*/g) ?? [];
  const [front = "", behind] = runs.map((run) => run.charCodeAt(0) - 97).map(String);
  return runs.length === 1 || (runs.length === 2 && Number(front) === (Number(behind) + 1) % 26);
}

describeTarget("local", "reads of the local adapter", () => {
  it("cuts lines out of any chunks as out of the whole", () => {
    const contents = fc
      .array(fc.constantFrom("\n", "a", "bc", "\r", "0123456789".repeat(3)), { maxLength: 40 })
      .map((parts) => Buffer.from(parts.join("")));
    fc.assert(
      fc.property(
        contents,
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 9 }),
        (content, from, count, maxBytes, step) => {
          const slicer = createLineSlicer({ start: from, count, maxBytes });
          for (let at = 0; at < content.byteLength; at += step) slicer.push(content.subarray(at, at + step));
          const { data, totalLines, head, firstLineBytes } = slicer.finish();
          const latin1 = (part: Uint8Array | undefined) => Buffer.from(part ?? []).toString("latin1");
          expect({ data: latin1(data), totalLines, head: latin1(head), firstLineBytes }).toEqual(
            sliceNaively(content, from, count, maxBytes),
          );
        },
      ),
      { numRuns: 2000 },
    );
  });

  it("R28 a file that a stranger rewrites in place is read as it was at one moment, or not at all", async () => {
    const { root } = makeScene();
    const file = join(root, "f");
    writeFileSync(file, "a".repeat(200_000));
    const environment = await open(root);
    // Each version is one letter throughout, written in four pieces.
    const writer = start(process.execPath, [
      "-e",
      'const fs = require("fs"); const fd = fs.openSync(process.argv[1], "r+"); for (let i = 0; ; i++) { const b = Buffer.alloc(50000, 97 + (i % 26)); for (let p = 0; p < 4; p++) fs.writeSync(fd, b, 0, b.length, p * 50000); if (i % 50 === 49) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5); if (i === 0) console.log("writing"); }',
      file,
    ]);
    await writer.said("writing");
    const outcomes = { whole: 0, busy: 0 };
    for (let round = 0; round < 60; round += 1) {
      try {
        const { data } = await environment.readFile("f");
        expect(data.byteLength).toBe(200_000);
        expect(isOfOneMoment(data), `round ${round}`).toBe(true);
        outcomes.whole += 1;
      } catch (error) {
        expect(error).toMatchObject({ code: "busy", retrySafe: true });
        outcomes.busy += 1;
      }
    }
    expect(outcomes.whole + outcomes.busy).toBe(60);

    let blends = 0;
    for (let round = 0; round < 300 && blends === 0; round += 1) {
      const chunks: Buffer[] = [];
      for await (const chunk of createReadStream(file, { highWaterMark: 16 * 1024 })) chunks.push(chunk);
      if (!isOfOneMoment(Buffer.concat(chunks))) blends += 1;
    }
    expect(blends, "a reader that does not look must be caught by this test").toBeGreaterThan(0);
  });

  it("R28 a log that never stops growing can be read", async () => {
    const { root } = makeScene();
    const file = join(root, "log");
    writeFileSync(file, "line 0\n");
    const environment = await open(root);
    const writer = start("sh", ["-c", 'echo started; i=0; while :; do i=$((i+1)); echo "line $i"; done >> "$1"', "sh", file]);
    await writer.said("started");
    for (let round = 0; round < 50; round += 1) {
      const { data, size } = await environment.readFile("log", { bytes: { offset: 0, length: 7 } });
      expect([text(data), size >= 7]).toEqual(["line 0\n", true]);
      const lines = await environment.readFile("log", { lines: { start: 1, count: 1 } });
      expect(text(lines.data)).toBe("line 0\n");
    }
  });

  it("one line of a 2 GiB file takes memory for the line", { timeout: 180_000 }, async () => {
    const { root } = makeScene();
    const file = join(root, "large");
    const fd = openSync(file, "w");
    writeSync(fd, "first\n");
    ftruncateSync(fd, 2 ** 31);
    writeSync(fd, "\nlast line\n", 2 ** 31);
    closeSync(fd);
    afterwards(() => rmSync(file, { force: true }));
    const program = await nodeArguments(new URL("./large-read-program.ts", import.meta.url), root);
    const { stdout, stderr } = await start(process.execPath, program).done;
    const { line, totalLines, size, growthMib } = JSON.parse(stdout || JSON.stringify(stderr));
    expect([line, totalLines, size]).toEqual(["last line\n", 3, 2 ** 31 + 11]);
    expect(growthMib).toBeLessThan(64);
  });

  it("a loop of small reads lets timers and others have their turn", async () => {
    const { root } = makeScene();
    writeFileSync(join(root, "f"), "x");
    const environment = await open(root);
    let fired = false;
    setTimeout(() => {
      fired = true;
    }, 20);
    const givenUpAt = performance.now() + 10_000;
    while (!fired && performance.now() < givenUpAt) await environment.stat("f");
    expect(fired).toBe(true);
  });

  it("a listing removes what dead writers left long ago, and nothing else", async () => {
    const { root } = makeScene();
    const [old, young, mine, foreign] = [
      ".glovebox-tmp-4194304-1-00ff",
      ".glovebox-tmp-4194304-2-00ff",
      `.glovebox-tmp-${process.pid}-1-00ff`,
      ".glovebox-tmp-mine",
    ];
    for (const name of [old, young, mine, foreign]) appendFileSync(join(root, name), "x");
    execFileSync("touch", ["-d", "1 hour ago", join(root, old), join(root, foreign)]);
    const environment = await open(root);
    expect((await environment.readdir(".")).map(({ name }) => name).sort()).toEqual([foreign, young, mine].sort());
    expect(await codeOf(environment.stat(old))).toBe("not_found");
  });
});
