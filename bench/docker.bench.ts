import { createHash } from "node:crypto";
import Docker from "dockerode";
import { docker } from "../adapters/docker/index.js";
import { openEnvironment } from "../src/environment.js";
import { execPerCall, openNaiveLane } from "./docker-rivals.js";
import { measure, ms, ratio, timed } from "./measure.js";
import type { Table } from "./table.js";

export const name = "docker";

const IN_FLIGHT = 64;
const PACE_MS = 200;

/** Each verb in one hardened container, every promise kept, beside an exec per call and a lane that promises nothing. */
export async function run(): Promise<Table> {
  await using environment = await openEnvironment(docker({}));
  const container = new Docker().getContainer(environment.containerId);
  const naive = await openNaiveLane(container);
  const small = Buffer.alloc(4096, "x");
  const large = Buffer.alloc(1 << 20, "x");
  for (const [path, data] of [
    ["small", small],
    ["large", large],
    ["edited", small],
  ] as const)
    await environment.writeFile(path, data);
  const at = (path: string): string => `${environment.cwd}/${path}`;
  const sha256 = (data: Uint8Array): string => createHash("sha256").update(data).digest("hex");
  const perCall = (script: string, stdin?: Uint8Array) => execPerCall(container, ["sh", "-c", script], stdin);
  const rows: string[][] = [];
  const compare = async (
    what: string,
    times: number,
    ours: () => Promise<unknown>,
    exec: () => Promise<unknown>,
    lane?: () => Promise<unknown>,
  ) => {
    const own = await measure(times, ours);
    const rival = await measure(Math.min(times, 25), exec);
    const bare = lane === undefined ? undefined : await measure(times, lane);
    rows.push([what, ms(own.p50), ms(own.p95), ms(rival.p50), ratio(rival.p50, own.p50), bare === undefined ? "" : ms(bare.p50)]);
  };
  const writeScript = (bytes: number, path: string): string => `head -c ${bytes} > ${at(path)}.t && mv ${at(path)}.t ${at(path)}`;
  const laneWrite = (bytes: number, path: string): string =>
    `dd bs=${bytes} count=1 iflag=fullblock of=${at(path)}.t 2>/dev/null && mv ${at(path)}.t ${at(path)} </dev/null`;

  await compare(
    "stat",
    200,
    () => environment.stat("small"),
    () => perCall(`stat -c '%s %a %Y' ${at("small")}`),
    () => naive.request(`stat -c %s ${at("small")} </dev/null`),
  );
  await compare(
    "read 4 KiB",
    200,
    () => environment.readFile("small"),
    () => perCall(`cat ${at("small")}`),
    () => naive.request(`cat ${at("small")} </dev/null`),
  );
  await compare(
    "write 4 KiB",
    100,
    () => environment.writeFile("written", small),
    () => perCall(writeScript(4096, "written"), small),
    () => naive.request(laneWrite(4096, "written"), small),
  );
  await compare(
    "edit 4 KiB (read, then write if unchanged)",
    100,
    async () => {
      const { data } = await environment.readFile("edited");
      await environment.writeFile("edited", data, { ifMatch: sha256(data) });
    },
    async () => {
      const data = await perCall(`cat ${at("edited")}`);
      await perCall(writeScript(data.length, "edited"), data);
    },
    async () => {
      const data = await naive.request(`cat ${at("edited")} </dev/null`);
      await naive.request(laneWrite(data.length, "edited"), data);
    },
  );
  await compare(
    "read 1 MiB",
    30,
    () => environment.readFile("large"),
    () => perCall(`cat ${at("large")}`),
    () => naive.request(`cat ${at("large")} </dev/null`),
  );
  await compare(
    "write 1 MiB",
    30,
    () => environment.writeFile("large", large),
    () => perCall(writeScript(large.length, "large"), large),
    () => naive.request(laneWrite(large.length, "large"), large),
  );
  const paced = await measure(40, () => environment.exec("true"), PACE_MS);
  const rivalPaced = await measure(15, () => execPerCall(container, ["true"]), PACE_MS);
  rows.push([`\`true\`, one every ${PACE_MS} ms`, ms(paced.p50), ms(paced.p95), ms(rivalPaced.p50), ratio(rivalPaced.p50, paced.p50), ""]);
  await compare(
    "`true`, one after another",
    40,
    () => environment.exec("true"),
    () => execPerCall(container, ["true"]),
    () => naive.request("/bin/true </dev/null"),
  );
  const burst = async (read: () => Promise<unknown>): Promise<number> =>
    await timed(() => Promise.all(Array.from({ length: IN_FLIGHT }, read)));
  await burst(() => environment.readFile("small"));
  const [own, rival] = [await burst(() => environment.readFile("small")), await burst(() => perCall(`cat ${at("small")}`))];
  rows.push([`${IN_FLIGHT} reads of 4 KiB in flight, all of them`, ms(own), "", ms(rival), ratio(rival, own), ""]);
  naive.close();
  return {
    title: "Docker, one hardened container, ms: ours with all promises, dockerode exec per call, ratio, a naive lane that promises nothing",
    columns: ["what", "p50", "p95", "exec per call p50", "exec / ours", "naive lane p50"],
    rows,
  };
}
