import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEnvironment } from "../src/environment.js";
import { startProxy } from "../test/support/proxy.js";
import { startSshd } from "../test/support/sshd.js";
import { timed } from "./measure.js";
import { scp } from "./ssh-rivals.js";
import { targetBehind } from "./ssh-target.js";
import type { Table } from "./table.js";

export const name = "ssh-throughput";

const MIB = 64;

/** A file of 64 MiB read and written, beside OpenSSH's scp on the same link, its connecting included. */
export async function run(): Promise<Table> {
  await using server = await startSshd();
  const directory = await mkdtemp(join(tmpdir(), "glovebox-bench-scp-"));
  try {
    const data = randomBytes(MIB << 20);
    const here = join(directory, "data");
    await writeFile(here, data);
    const rows: string[][] = [];
    for (const rttMs of [0, 100]) {
      await using proxy = await startProxy(server, { rttMs });
      const target = targetBehind(proxy, server);
      await using environment = await openEnvironment(target);
      const write = await timed(() => environment.writeFile("ours", data));
      const read = await timed(() => environment.readFile("ours"));
      const up = await timed(() => scp(server, proxy.port, here, `:${server.workspace}/scp`));
      const down = await timed(() => scp(server, proxy.port, `:${server.workspace}/scp`, join(directory, "back")));
      const rate = (durationMs: number): string => ((MIB * 1000) / durationMs).toFixed(0);
      rows.push(
        [String(rttMs), "read", rate(read), rate(down), (down / read).toFixed(2)],
        [String(rttMs), "write, synced and checked", rate(write), rate(up), (up / write).toFixed(2)],
      );
    }
    return { title: `SSH, ${MIB} MiB, MiB/s`, columns: ["RTT", "what", "ours", "scp", "ours / scp"], rows };
  } finally {
    await rm(directory, { recursive: true });
  }
}
