import { expect, it } from "vitest";
import { bytes, makeScene, nodeArguments, open, start } from "../../adapters/local/scene.js";
import { describeTarget } from "../../support/describe-target.js";

interface Flooded {
  readonly exitCode: number;
  readonly stdout: number;
  readonly stderr: number;
  readonly growthMib: number;
  readonly lagP99Ms: number;
}

async function flood(command: string, reader: "quick" | "slow" | "unread"): Promise<Flooded> {
  const { root } = makeScene();
  const { stdout, stderr } = await start(
    process.execPath,
    await nodeArguments(new URL("./flood-program.ts", import.meta.url), root, command, reader),
  ).done;
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout) as Flooded;
}

const GIB = 2 ** 30;

describeTarget("local", "R25 P15 floods", () => {
  it("1 GiB on both streams arrives to the byte, in memory for a few chunks", { timeout: 300_000 }, async () => {
    const { growthMib, ...rest } = await flood("head -c 768M /dev/zero & head -c 256M /dev/zero >&2; wait", "quick");
    expect(rest).toMatchObject({ exitCode: 0, stdout: 0.75 * GIB, stderr: 0.25 * GIB });
    expect(growthMib).toBeLessThan(64);
  });

  it("a reader that lags holds the command back instead of filling memory", { timeout: 300_000 }, async () => {
    const { growthMib, ...rest } = await flood("head -c 512M /dev/zero; head -c 64M /dev/zero >&2", "slow");
    expect(rest).toMatchObject({ exitCode: 0, stdout: 0.5 * GIB, stderr: GIB / 16 });
    expect(growthMib).toBeLessThan(64);
  });

  it("nobody who reads, ten million empty lines, and one endless line cost no memory either", { timeout: 300_000 }, async () => {
    const unread = await flood("head -c 512M /dev/zero", "unread");
    expect(unread).toMatchObject({ exitCode: 0, stdout: 0 });
    expect(unread.growthMib).toBeLessThan(64);
    const lines = await flood("yes '' | head -n 10000000", "quick");
    expect(lines).toMatchObject({ exitCode: 0, stdout: 10_000_000 });
    expect(lines.growthMib).toBeLessThan(64);
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
