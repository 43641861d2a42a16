import { expect, it } from "vitest";
import { bytes, makeScene, open } from "../../adapters/local/scene.js";
import { describeTarget } from "../../support/describe-target.js";
import { flood } from "../flood.js";

const GIB = 2 ** 30;

describeTarget("local", "R25 P15 floods", () => {
  const floodIt = (command: string, reader: "quick" | "slow" | "unread") => flood({ root: makeScene().root }, command, reader);

  it("1 GiB on both streams arrives to the byte, in memory for a few chunks", { timeout: 300_000 }, async () => {
    const arrived = await floodIt("head -c 768M /dev/zero & head -c 256M /dev/zero >&2; wait", "quick");
    expect(arrived).toEqual({ exitCode: 0, stdout: 0.75 * GIB, stderr: 0.25 * GIB });
  });

  it("a reader that lags holds the command back instead of filling memory", { timeout: 300_000 }, async () => {
    const arrived = await floodIt("head -c 512M /dev/zero; head -c 64M /dev/zero >&2", "slow");
    expect(arrived).toEqual({ exitCode: 0, stdout: 0.5 * GIB, stderr: GIB / 16 });
  });

  it("nobody who reads, ten million empty lines, and one endless line cost no memory either", { timeout: 300_000 }, async () => {
    expect(await floodIt("head -c 512M /dev/zero", "unread")).toEqual({ exitCode: 0, stdout: 0, stderr: 0 });
    expect(await floodIt("yes '' | head -n 10000000", "quick")).toEqual({ exitCode: 0, stdout: 10_000_000, stderr: 0 });
  });

  it("P10 B11 what two streams say byte by byte is complete and in order on each", async () => {
    const { root } = makeScene();
    const environment = await open(root);
    const heard = { stdout: "", stderr: "" };
    const command = "for i in $(seq 1 500); do printf o; printf e >&2; done; printf '\\303'; printf x >&2; printf '\\251'";
    await environment.exec(command, {
      onOutput(chunk, stream) {
        heard[stream] += Buffer.from(chunk).toString("latin1");
      },
    });
    expect(heard).toEqual({ stdout: `${"o".repeat(500)}\xc3\xa9`, stderr: `${"e".repeat(500)}x` });
  });

  it("P10 what an aborted flood delivered is its beginning", async () => {
    const { root } = makeScene();
    const environment = await open(root);
    const chunks: Uint8Array[] = [];
    const controller = new AbortController();
    const run = environment.exec("i=0; while :; do i=$((i+1)); echo $i; done", {
      signal: controller.signal,
      onOutput(chunk) {
        chunks.push(chunk);
        if (chunks.length === 20) controller.abort();
      },
    });
    await expect(run).rejects.toMatchObject({ code: "aborted" });
    const delivered = Buffer.concat(chunks).toString();
    const whole = Array.from({ length: delivered.split("\n").length }, (_, index) => `${index + 1}\n`).join("");
    expect(whole.startsWith(delivered)).toBe(true);
    expect(bytes(delivered).byteLength).toBeGreaterThan(0);
  });
});
