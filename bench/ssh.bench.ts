import { createHash } from "node:crypto";
import { promisify } from "node:util";
import type { Environment } from "../src/contract/target.js";
import { openEnvironment } from "../src/environment.js";
import { startProxy } from "../test/support/proxy.js";
import { type SshServer, startSshd } from "../test/support/sshd.js";
import { measure, ms, ratio, timed } from "./measure.js";
import { openRivals, type Rivals } from "./ssh-rivals.js";
import { targetBehind } from "./ssh-target.js";
import type { Table } from "./table.js";

export const name = "ssh";

const RTTS_MS = [0, 20, 100];
const IN_FLIGHT = 64;
/** A command every so often, as a model gives them, and one after another. */
const PACE_MS = 500;
const PACED = `\`true\`, one every ${PACE_MS} ms`;

/** Each verb over a link of 0, 20 and 100 ms, beside the usual ways to do the same on the same link. */
export async function run(): Promise<Table> {
  await using server = await startSshd();
  const rows: string[][] = [];
  for (const rttMs of RTTS_MS) {
    await using proxy = await startProxy(server, { rttMs });
    const target = targetBehind(proxy, server);
    await using environment = await openEnvironment(target);
    await using rivals = await openRivals(server, proxy.port);
    rows.push(...(await rowsAt(rttMs, environment, rivals, server)));
  }
  return {
    title: "SSH, ms at p50 by added round-trip time: ours with all promises, and rivals without them",
    columns: ["RTT", "what", "ours", "in RTT", "ssh", "ControlMaster", "exec channel", "SFTP whole file", "channel / ours", "SFTP / ours"],
    rows,
  };
}

async function rowsAt(rttMs: number, environment: Environment, rivals: Rivals, { workspace }: SshServer): Promise<string[][]> {
  const { sftp } = rivals;
  const content = Buffer.alloc(4096, "x");
  const file = `${workspace}/file`;
  await environment.writeFile("file", content);
  const writeScript = `cat > ${file}.t && mv ${file}.t ${file}`;
  const readFile = promisify(sftp.readFile.bind(sftp)) as (path: string) => Promise<Buffer>;
  const writeFile = promisify(sftp.writeFile.bind(sftp)) as (path: string, data: Buffer) => Promise<void>;
  const stat = promisify(sftp.stat.bind(sftp));
  const readdir = promisify(sftp.readdir.bind(sftp));
  const edit = async (): Promise<void> => {
    const { data } = await environment.readFile("file");
    await environment.writeFile("file", data, { ifMatch: createHash("sha256").update(data).digest("hex") });
  };
  type Verb = readonly [what: string, ours: () => Promise<unknown>, command: string, stdin?: Buffer, sftp?: () => Promise<unknown>];
  const verbs: readonly Verb[] = [
    ["read 4 KiB", () => environment.readFile("file"), `cat ${file}`, undefined, () => readFile(file)],
    ["write 4 KiB", () => environment.writeFile("file", content), writeScript, content, () => writeFile(`${file}-sftp`, content)],
    ["edit 4 KiB", edit, "", undefined, async () => await writeFile(`${file}-sftp`, await readFile(`${file}-sftp`))],
    ["stat", () => environment.stat("file"), `stat ${file}`, undefined, () => stat(file)],
    ["ls", () => environment.readdir("."), `ls -la ${workspace}`, undefined, () => readdir(workspace)],
    ["grep", () => environment.grep(".", { pattern: "nothing", limit: 10 }), `grep -r nothing ${workspace} || true`],
    ["find", () => environment.find(".", { pattern: "*.txt", limit: 10 }), `find ${workspace} -name '*.txt'`],
    [PACED, () => environment.exec("true"), "true"],
    ["`true`, one after another", () => environment.exec("true"), "true"],
  ];
  const times = rttMs === 0 ? 60 : 12;
  const rows: string[][] = [];
  for (const [what, ours, command, stdin, viaSftp] of verbs) {
    const pauseMs = what === PACED ? PACE_MS : 0;
    const own = (await measure(times, ours, pauseMs)).p50;
    const shell = async (run: (command: string, stdin?: Buffer) => Promise<Buffer>, repeats: number): Promise<number> => {
      const act = command === "" ? async () => void (await run(writeScript, await run(`cat ${file}`))) : () => run(command, stdin);
      return (await measure(repeats, act, pauseMs)).p50;
    };
    const fresh = await shell(rivals.ssh, 4);
    const master = await shell(rivals.controlMaster, 8);
    const channel = await shell(rivals.channel, times);
    const whole = viaSftp === undefined ? undefined : (await measure(times, viaSftp)).p50;
    rows.push([
      String(rttMs),
      what,
      ms(own),
      rttMs === 0 ? "" : (own / rttMs).toFixed(2),
      ms(fresh),
      ms(master),
      ms(channel),
      whole === undefined ? "" : ms(whole),
      ratio(channel, own),
      whole === undefined ? "" : ratio(whole, own),
    ]);
  }
  const burst = await timed(() => Promise.all(Array.from({ length: IN_FLIGHT }, () => environment.readFile("file"))));
  rows.push([
    String(rttMs),
    `${IN_FLIGHT} reads in flight`,
    ms(burst),
    rttMs === 0 ? "" : (burst / rttMs).toFixed(2),
    "",
    "",
    "",
    "",
    "",
    "",
  ]);
  return rows;
}
