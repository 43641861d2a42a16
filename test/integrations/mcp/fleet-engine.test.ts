import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, afterEach, expect, it } from "vitest";
import { runCli } from "../../cli/run-cli.js";
import { wipeFleet } from "../../faults/fleet/orders.js";
import { describeTarget } from "../../support/describe-target.js";
import { processesNaming } from "../../support/processes.js";
import { closeAll, connectHttp, eventually, textOf } from "./fixtures.js";
import { type Started, start } from "./mcp-process.js";

const fleet = `mcp${randomBytes(4).toString("hex")}`;
const env = { GLOVEBOX_FLEET: fleet, GLOVEBOX_FLEET_SECRET: "a secret for tests only" };
const METRICS_TOKEN = "token-of-the-metrics-page";
const tokenOf = (user: string): string => `token-of-${user}-0123456789`;

afterEach(closeAll);

describeTarget("docker", "glovebox mcp --fleet", () => {
  const directory = mkdtempSync(join(tmpdir(), "glovebox-mcp-fleet-"));
  const audit = join(directory, "audit.jsonl");
  const tokenFile = join(directory, "tokens.json");
  const tokens = ["ann", "ben"].map((user) => ({ user, tenant: "acme", sha256: createHash("sha256").update(tokenOf(user)).digest("hex") }));
  writeFileSync(tokenFile, JSON.stringify({ tokens }), { mode: 0o600 });
  afterAll(async () => {
    await wipeFleet(fleet);
    rmSync(directory, { recursive: true });
  });

  async function serve(): Promise<Started & { url: string; client(user: string): Promise<Client> }> {
    const words = ["--fleet", fleet, "--image", "glovebox/busybox", "--sandbox", "docker:?memory=128m", "--clocks", "release=30,pause=600"];
    const started = await start(["mcp", "--http", "0", "--token-file", tokenFile, "--audit", audit, ...words], {
      ...env,
      GLOVEBOX_METRICS_TOKEN: METRICS_TOKEN,
    });
    const url = await started.says(/listening on (\S+)/);
    return { ...started, url, client: async (user) => (await connectHttp(url, "2026-07-28", tokenOf(user))).client };
  }

  const bash = async (client: Client, command: string) => textOf(await client.callTool({ name: "bash", arguments: { command } }));

  it("keeps users apart, is seen from the command line, and is taken over by the next server after kill -9", async () => {
    const first = await serve();
    const [ann, ben] = [await first.client("ann"), await first.client("ben")];
    expect(
      await Promise.all([ann, ben].map((each, index) => bash(each, `echo secret ${index} > note; id -u; pwd; hostname > /tmp/me`))),
    ).toEqual(["1000\n/workspace", "1000\n/workspace"]);
    expect(await bash(ben, "cat /workspace/note; ls -A /workspace")).toBe("secret 1\nnote");
    expect(await bash(ann, "cat note")).toBe("secret 0");

    const listed = (await runCli(["ps", "--json"], { env })).stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(listed).toMatchObject([
      { state: "running", owner: "other" },
      { state: "running", owner: "other" },
    ]);
    const seen = (await runCli(["fleet", "metrics"], { env })).stdout;
    expect(seen).toContain(`glovebox_fleet_engine_sandboxes{fleet="${fleet}",state="running",owner="process"} 2\n`);
    const page = await fetch(first.url.replace("/mcp", "/metrics"), { headers: { authorization: `Bearer ${METRICS_TOKEN}` } });
    expect(await page.text()).toContain(`glovebox_fleet_acquires_total{fleet="${fleet}",result="ok"} 2\n`);

    const mark = `${910_000_000 + (process.pid % 1_000_000)}`;
    ann.callTool({ name: "bash", arguments: { command: `sleep ${mark}` } }).catch(() => undefined);
    await eventually(async () => (await processesNaming(`sleep\0${mark}`)).length > 0, 30_000);
    await first.end("SIGKILL");
    const orphaned = (await runCli(["fleet", "metrics"], { env })).stdout;
    expect(orphaned).toContain(`glovebox_fleet_engine_sandboxes{fleet="${fleet}",state="running",owner="nobody"} 2\n`);

    const second = await serve();
    const again = await second.client("ann");
    expect(await bash(again, "cat note")).toBe("secret 0");
    expect(second.stderr().match(/adopted gbf-/g)).toHaveLength(2);
    await eventually(async () => (await processesNaming(`sleep\0${mark}`)).length === 0, 30_000);
    const both = (await runCli(["ps"], { env })).stdout;
    expect(both.match(/ running +a live process /g)).toHaveLength(2);

    const ended = second.end();
    expect(await ended).toBe(0);
    expect((await runCli(["ps", "--json"], { env })).stdout.match(/"owner":"nobody"/g)).toHaveLength(2);
    const removed = await runCli(["rm", "ann", "ben", "--tenant", "acme", "--audit", audit], { env });
    expect(removed).toMatchObject({ code: 0, stdout: "removed ann\nremoved ben\n" });

    const lines = readFileSync(audit, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, string>);
    const acts = lines.filter(({ event }) => event === "fleet_act").map(({ act }) => act);
    for (const act of ["created", "leased", "released", "adopted", "yielded", "removed"]) expect(acts).toContain(act);
    expect(lines.filter(({ act, key }) => act === "leased" && key === "ann")).toHaveLength(2);
    const commands = lines.filter(
      ({ user, tenant, verb, event }) => user === "ben" && tenant === "acme" && verb === "exec" && event === "end",
    );
    expect(commands).toHaveLength(2);
  }, 240_000);

  it("does not start without an engine, and leaves the secret to nobody", async () => {
    const words = ["mcp", "--http", "0", "--token-file", tokenFile, "--fleet", fleet, "--host", "unix:///nonexistent.sock"];
    const { code, stderr } = await runCli(words, { env });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^glovebox: .*unix:\/\/\/nonexistent\.sock/);
  }, 60_000);
});
