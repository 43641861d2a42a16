import { readFileSync } from "node:fs";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

export interface LoadOptions {
  readonly url: string;
  readonly token: string;
  /** Of the server, whose memory is watched. */
  readonly pid: number;
  readonly clients: number;
  readonly durationMs: number;
}

export interface LoadOutcome {
  readonly calls: number;
  readonly durationMs: number;
  readonly readMs: Latencies;
  readonly editMs: Latencies;
  /** What calls that should have worked came to instead. */
  readonly errors: readonly string[];
  /** Edits that were acknowledged and are not in the files. */
  readonly lostEdits: number;
  /** Resident memory of the server once all clients had connected, and at its highest afterwards. */
  readonly startMiB: number;
  readonly highestMiB: number;
}

export interface Latencies {
  readonly p50: number;
  readonly p99: number;
  readonly count: number;
}

const SHARED = "shared.txt";
const line = (client: number, edits: number): string => `client ${String(client).padStart(4, "0")}: ${edits}.\n`;

/**
 * Many clients of both revisions at once on one target: each reads files and edits, by turns, a line of a file that all of
 * them edit and a file of its own, until the time is up. Then the files are counted against what was acknowledged.
 */
export async function runLoad({ url, token, pid, clients: count, durationMs }: LoadOptions): Promise<LoadOutcome> {
  const errors: string[] = [];
  const reads: number[] = [];
  const edits: number[] = [];
  const clients = await Promise.all(Array.from({ length: count }, (_, index) => connect(url, token, index % 2 === 0)));
  const call = async (client: Client, name: string, given: Record<string, unknown>, times: number[]): Promise<boolean> => {
    const startedMs = performance.now();
    const result = await client
      .callTool({ name, arguments: given }, { timeout: 120_000 })
      .catch((error: unknown) => ({ isError: true, content: [{ text: String(error) }] }));
    times.push(performance.now() - startedMs);
    if (result.isError) errors.push(`${name}: ${JSON.stringify(result.content)}`);
    return !result.isError;
  };
  const first = clients[0] as Client;
  await call(first, "write", { path: SHARED, content: clients.map((_, index) => line(index, 0)).join("") }, []);
  await Promise.all(clients.map((client, index) => call(client, "write", { path: `own-${index}.txt`, content: line(index, 0) }, [])));

  const startMiB = residentMiB(pid);
  let highestMiB = startMiB;
  const watch = setInterval(() => {
    highestMiB = Math.max(highestMiB, residentMiB(pid));
  }, 200);
  const startedMs = performance.now();
  const acknowledged = await Promise.all(
    clients.map(async (client, index) => {
      const done = { shared: 0, own: 0 };
      for (let round = 0; performance.now() - startedMs < durationMs; round += 1) {
        await call(client, "read", { path: round % 2 ? SHARED : `own-${(index + round) % count}.txt` }, reads);
        const shared = round % 2 === 0;
        const before = shared ? done.shared : done.own;
        const given = {
          path: shared ? SHARED : `own-${index}.txt`,
          edits: [{ oldText: line(index, before), newText: line(index, before + 1) }],
        };
        if (!(await call(client, "edit", given, edits))) break;
        if (shared) done.shared += 1;
        else done.own += 1;
      }
      return done;
    }),
  );
  const tookMs = performance.now() - startedMs;
  clearInterval(watch);

  const textOf = async (path: string): Promise<string> => {
    const { content } = (await first.callTool({ name: "read", arguments: { path } })) as {
      readonly content: readonly { readonly text?: string }[];
    };
    return `${content[0]?.text}\n`;
  };
  const shared = await textOf(SHARED);
  let lostEdits = 0;
  for (const [index, done] of acknowledged.entries()) {
    if (!shared.includes(line(index, done.shared))) lostEdits += 1;
    if ((await textOf(`own-${index}.txt`)) !== line(index, done.own)) lostEdits += 1;
  }
  await Promise.all(clients.map((client) => client.close()));
  return {
    calls: reads.length + edits.length,
    durationMs: tookMs,
    readMs: latencies(reads),
    editMs: latencies(edits),
    errors,
    lostEdits,
    startMiB,
    highestMiB,
  };
}

async function connect(url: string, token: string, newer: boolean): Promise<Client> {
  const client = new Client({ name: "load", version: "1" }, newer ? { versionNegotiation: { mode: "auto" } } : {});
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }));
  return client;
}

export function latencies(times: readonly number[]): Latencies {
  const sorted = [...times].sort((one, other) => one - other);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99), count: sorted.length };
}

/** Resident memory of a process of this machine. */
function residentMiB(pid: number): number {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kibibytes) / 1024;
}
