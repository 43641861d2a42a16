import assert from "node:assert/strict";
import type { OutputStream } from "../../contract/operations.js";
import { casesOf } from "../contract-case.js";
import { runCommand } from "../run-command.js";
import { sleep } from "../settle.js";

/** What `look` says once it has said the same for more than a second. */
async function standstill(look: () => Promise<string>): Promise<string> {
  let last = await look();
  for (let same = 0; same < 6; ) {
    await sleep(200);
    const now = await look();
    same = now === last ? same + 1 : 0;
    last = now;
  }
  return last;
}

export const outputCases = casesOf("output", [
  {
    name: "every byte value arrives on both streams",
    needs: ["processes"],
    async run({ environment, directory, write }) {
      const all = Uint8Array.from({ length: 1024 }, (_, index) => index % 256);
      await write("bytes", all);
      const kept: Record<OutputStream, Uint8Array[]> = { stdout: [], stderr: [] };
      await environment.exec("cat bytes; cat bytes >&2", {
        cwd: directory,
        onOutput(chunk, stream) {
          kept[stream].push(chunk);
        },
      });
      assert.ok(Buffer.concat(kept.stdout).equals(all), "stdout");
      assert.ok(Buffer.concat(kept.stderr).equals(all), "stderr");
    },
  },
  {
    name: "each stream is whole and in order, however they interleave",
    id: "B11",
    needs: ["processes"],
    async run({ environment }) {
      const { stdout, stderr } = await runCommand(
        environment,
        'i=0; while [ "$i" -lt 2000 ]; do echo "out $i"; echo "err $i" >&2; i=$((i+1)); done',
      );
      const expected = (word: string): string => Array.from({ length: 2000 }, (_, index) => `${word} ${index}\n`).join("");
      assert.equal(stdout, expected("out"));
      assert.equal(stderr, expected("err"));
    },
  },
  {
    name: "large output arrives byte for byte, and the chunks are the callee's to keep",
    id: "B09",
    needs: ["processes"],
    async run({ environment }) {
      const { stdoutBytes } = await runCommand(environment, "seq 1 300000");
      const expected = Array.from({ length: 300_000 }, (_, index) => `${index + 1}\n`).join("");
      assert.equal(Buffer.from(stdoutBytes).toString(), expected);
    },
  },
  {
    name: "a single line of many megabytes arrives",
    id: "B09",
    needs: ["processes"],
    async run({ environment }) {
      let bytes = 0;
      await environment.exec("head -c 20000000 /dev/zero; printf end >&2", {
        onOutput(chunk, stream) {
          if (stream === "stdout") bytes += chunk.byteLength;
        },
      });
      assert.equal(bytes, 20_000_000);
    },
  },
  {
    name: "all output is delivered before the call settles, and none after",
    needs: ["processes"],
    async run({ environment }) {
      let settled = false;
      let late = 0;
      let bytes = 0;
      await environment.exec("head -c 500000 /dev/zero; (sleep 1; echo late) &", {
        async onOutput(chunk) {
          if (settled) late += 1;
          await sleep(1);
          bytes += chunk.byteLength;
        },
      });
      settled = true;
      assert.equal(bytes, 500_000);
      await sleep(1500);
      assert.equal(late, 0);
    },
  },
  {
    name: "a promise from onOutput holds the flow back on the target",
    id: "P15",
    needs: ["processes"],
    async run({ environment, directory, text }) {
      let bytes = 0;
      let first = true;
      let reached: string | undefined;
      await environment.exec('i=0; while [ "$i" -lt 48 ]; do head -c 1048576 /dev/zero; i=$((i+1)); echo "$i" > progress; done', {
        cwd: directory,
        async onOutput(chunk) {
          bytes += chunk.byteLength;
          if (!first) return;
          first = false;
          reached = await standstill(() => text("progress").catch(() => ""));
        },
      });
      assert.ok(reached !== undefined, "the call settled before its reader was done");
      assert.ok(Number(reached) < 32, `the command went on to write ${reached.trim()} of 48 MiB while its reader waited`);
      assert.equal(bytes, 48 * 1_048_576);
    },
  },
  {
    name: "calls of onOutput for one stream do not overlap",
    needs: ["processes"],
    async run({ environment }) {
      let inside = 0;
      let most = 0;
      await environment.exec("seq 1 100000", {
        async onOutput() {
          inside += 1;
          most = Math.max(most, inside);
          await sleep(1);
          inside -= 1;
        },
      });
      assert.equal(most, 1);
    },
  },
  {
    name: "a command without onOutput runs to its end, however much it says",
    needs: ["processes"],
    async run({ environment }) {
      assert.equal((await environment.exec("seq 1 500000; seq 1 100000 >&2; exit 9")).exitCode, 9);
    },
  },
]);
