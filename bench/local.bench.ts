import { readdirSync, readFileSync, statSync } from "node:fs";
import { mkdir, mkdtemp, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { local } from "../adapters/local/index.js";
import { openEnvironment } from "../src/environment.js";
import { createScheduler } from "../src/scheduler/index.js";
import { createTools } from "../src/tools/index.js";
import { measure, ms, ratio, timed } from "./measure.js";
import type { Table } from "./table.js";

export const name = "local";

const PARALLEL_CALLS = 64;

/** Each verb on a local directory beside bare node:fs doing the same, every promise of the verb kept. */
export async function run(): Promise<Table> {
  const directory = await mkdtemp(join(tmpdir(), "glovebox-bench-"));
  try {
    await using environment = await openEnvironment(local(directory));
    const content = Buffer.alloc(4096, "x");
    await mkdir(join(directory, "list"));
    for (let index = 0; index < 50; index += 1) await writeFile(join(directory, "list", `file-${index}`), content);
    const file = join(directory, "list", "file-7");
    const rows: string[][] = [];
    const compare = async (
      what: string,
      times: number,
      ours: () => Promise<unknown>,
      bare: () => Promise<unknown>,
      bareSync?: () => unknown,
    ): Promise<void> => {
      const [own, floor] = [await measure(times, ours), await measure(times, bare)];
      const lowest = bareSync && (await measure(times, async () => bareSync()));
      const beside = lowest === undefined ? ["", ""] : [ms(lowest.p50), ratio(own.p50, lowest.p50)];
      rows.push([what, ms(own.p50), ms(own.p95), ms(floor.p50), ratio(own.p50, floor.p50), ...beside]);
    };
    await compare(
      "read 4 KiB",
      500,
      () => environment.readFile("list/file-7"),
      () => readFile(file),
      () => readFileSync(file),
    );
    await compare(
      "stat",
      500,
      () => environment.stat("list/file-7"),
      () => stat(file),
      () => statSync(file),
    );
    await compare(
      "readdir, 50 entries with kinds",
      500,
      () => environment.readdir("list"),
      () => readdir(join(directory, "list"), { withFileTypes: true }),
      () => readdirSync(join(directory, "list"), { withFileTypes: true }),
    );
    await compare(
      "durable write 4 KiB (bare: write, fsync, rename, fsync of the directory)",
      100,
      () => environment.writeFile("w", content),
      () => bareWrite(join(directory, "bare"), content),
    );
    const calls = Array.from({ length: PARALLEL_CALLS }, (_, index) => ({
      id: String(index),
      name: "read",
      arguments: { path: `list/file-${index % 50}` },
    }));
    const tools = createTools(environment);
    const together = createScheduler({ tools });
    const oneByOne = createScheduler({ tools, toolExecution: "sequential" });
    await together.runBatch(calls);
    const [parallel, sequential] = [await timed(() => together.runBatch(calls)), await timed(() => oneByOne.runBatch(calls))];
    rows.push([
      `batch of ${PARALLEL_CALLS} reads together (bare: one by one)`,
      ms(parallel),
      "",
      ms(sequential),
      ratio(parallel, sequential),
      "",
      "",
    ]);
    return {
      title: "Local directory, ms: ours, bare node:fs/promises, bare synchronous node:fs",
      columns: ["what", "p50", "p95", "bare p50", "ours / bare", "sync p50", "ours / sync"],
      rows,
    };
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function bareWrite(path: string, content: Uint8Array): Promise<void> {
  const temporary = `${path}.tmp`;
  const handle = await open(temporary, "wx");
  await handle.writeFile(content);
  await handle.sync();
  await handle.close();
  await rename(temporary, path);
  const parent = await open(dirname(path));
  await parent.sync();
  await parent.close();
}
