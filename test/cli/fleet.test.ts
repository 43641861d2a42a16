import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { auditActs, openAuditFile } from "../../src/cli/audit-file.js";
import { engineGauges } from "../../src/cli/fleet-gauges.js";
import { sandboxCounts, sandboxTable } from "../../src/cli/fleet-table.js";
import { fleetOptionsOf } from "../../src/cli/mcp-fleet-options.js";
import type { McpOptions } from "../../src/cli/mcp-options.js";
import { takeMetricsToken } from "../../src/cli/mcp-tokens.js";
import { watch } from "../../src/cli/watch.js";
import type { Finding, ListedSandbox } from "../../src/fleet/index.js";
import { prometheusText } from "../../src/fleet/metrics.js";
import { runCli } from "./run-cli.js";

const MINUTE_MS = 60_000;
const sandbox = (name: string, state: string, owner: ListedSandbox["owner"], createdMs = 0): ListedSandbox => ({
  name,
  state,
  owner,
  leases: 0,
  createdMs,
});
const sandboxes = [
  sandbox("gbf-prod-k-2", "paused", "other", 59 * MINUTE_MS),
  sandbox("gbf-prod-k-1", "running", "nobody"),
  sandbox("gbf-prod-k-3", "running", "other", 60 * MINUTE_MS),
];

describe("the list of a fleet", () => {
  it("is a table in an order that stays, with its counts", () => {
    expect(`${sandboxCounts("prod", sandboxes)}\n${sandboxTable(sandboxes, 60 * MINUTE_MS)}`).toBe(`prod: 3 sandboxes, 1 paused, 2 running
SANDBOX       STATE    OWNER           AGE
gbf-prod-k-1  running  -               1h
gbf-prod-k-2  paused   a live process  1m
gbf-prod-k-3  running  a live process  0m
`);
    expect(
      sandboxTable([{ ...sandbox("gbf-prod-k-1", "lost", "nobody"), engine: "east" }], 0),
    ).toBe(`SANDBOX       STATE  OWNER  AGE  ENGINE
gbf-prod-k-1  lost   -      0m   east
`);
    expect(sandboxCounts("prod", [])).toBe("prod: 0 sandboxes");
  });

  it("is drawn over itself on a terminal, cut to its size, through failures, until it is interrupted", async () => {
    const written: string[] = [];
    const frames = ["one\ntwo two two\nthree\nfour\n", new Error("the engine is away"), "five\n"];
    const controller = new AbortController();
    const frame = async (): Promise<string> => {
      const next = frames.shift();
      if (frames.length === 0) setTimeout(() => controller.abort(), 20);
      if (next instanceof Error) throw next;
      return next ?? "";
    };
    await watch({ columns: 7, rows: 4, write: (text) => written.push(text) }, frame, 1, controller.signal);
    expect(written.slice(0, 3)).toEqual([
      "\u001b[?25l\u001b[2J",
      "\u001b[Hone\u001b[K\ntwo two\u001b[K\n… 2 mor\u001b[K\n\u001b[J",
      "\u001b[Hthe eng\u001b[K\n\u001b[J",
    ]);
    expect(written[3]).toBe("\u001b[Hfive\u001b[K\n\u001b[J");
    expect(written.at(-1)).toBe("\u001b[?25h");
    await expect(watch({ write: () => undefined }, () => Promise.reject(new Error("away")), 1, controller.signal)).rejects.toThrow("away");
  });
});

it("what the engine has is told as Prometheus' text, users' names and keys left out", () => {
  const finding = (what: Finding["what"], verdict: Finding["verdict"]): Finding => ({ what, verdict, name: "x", why: "y" });
  const findings = [finding("sandbox", "adopt"), finding("sandbox", "keep"), finding("volume", "remove"), finding("lock", "unlock")];
  expect(
    prometheusText("prod", engineGauges(sandboxes, findings)),
  ).toBe(`# HELP glovebox_fleet_engine_sandboxes Users' sandboxes at the engine, by state and by whether a live process owns them.
# TYPE glovebox_fleet_engine_sandboxes gauge
glovebox_fleet_engine_sandboxes{fleet="prod",state="running",owner="process"} 1
glovebox_fleet_engine_sandboxes{fleet="prod",state="running",owner="nobody"} 1
glovebox_fleet_engine_sandboxes{fleet="prod",state="paused",owner="process"} 1
glovebox_fleet_engine_sandboxes{fleet="prod",state="paused",owner="nobody"} 0
glovebox_fleet_engine_sandboxes{fleet="prod",state="stopped",owner="process"} 0
glovebox_fleet_engine_sandboxes{fleet="prod",state="stopped",owner="nobody"} 0
# HELP glovebox_fleet_engine_findings Sandboxes, volumes and locks at the engine, by what the fleet's processes would do about them.
# TYPE glovebox_fleet_engine_findings gauge
glovebox_fleet_engine_findings{fleet="prod",what="sandbox",verdict="keep"} 1
glovebox_fleet_engine_findings{fleet="prod",what="sandbox",verdict="adopt"} 1
glovebox_fleet_engine_findings{fleet="prod",what="sandbox",verdict="remove"} 0
glovebox_fleet_engine_findings{fleet="prod",what="sandbox",verdict="restore"} 0
glovebox_fleet_engine_findings{fleet="prod",what="sandbox",verdict="foreign"} 0
glovebox_fleet_engine_findings{fleet="prod",what="volume",verdict="keep"} 0
glovebox_fleet_engine_findings{fleet="prod",what="volume",verdict="remove"} 1
glovebox_fleet_engine_findings{fleet="prod",what="volume",verdict="foreign"} 0
glovebox_fleet_engine_findings{fleet="prod",what="lock",verdict="keep"} 0
glovebox_fleet_engine_findings{fleet="prod",what="lock",verdict="unlock"} 1
`);
});

describe("the audit file", () => {
  const directory = mkdtempSync(join(tmpdir(), "glovebox-fleet-audit-"));
  afterAll(() => rmSync(directory, { recursive: true }));

  it("gets a line for each act, and is its owner's alone", () => {
    const file = join(directory, "audit.jsonl");
    const record = auditActs(openAuditFile(file));
    record({ type: "fleet_act", fleet: "prod", act: "leased", sandbox: "gbf-prod-k-1", key: "ann\n", tenant: "acme", durationMs: 1.6 });
    record({ type: "target_closed", target: "x" });
    record({ type: "fleet_act", fleet: "prod", act: "engine_lost", sandbox: "", message: "away" });
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    const head = { event: "fleet_act", time: expect.stringMatching(/^\d{4}-/), pid: process.pid, fleet: "prod" };
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { ...head, act: "leased", sandbox: "gbf-prod-k-1", key: "ann\n", tenant: "acme", durationMs: 2 },
      { ...head, act: "engine_lost", sandbox: "", message: "away" },
    ]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(() => openAuditFile(join(directory, "no", "such"))).toThrow("cannot write the audit file");
  });
});

describe("glovebox mcp --fleet", () => {
  const http: McpOptions = { fleet: "prod", http: true, tokenFile: "tokens.json" };
  beforeEach(() => vi.stubEnv("GLOVEBOX_FLEET_SECRET", "a secret for tests only"));
  afterEach(() => vi.unstubAllEnvs());

  it("is what its options say, and takes the secret out of the environment", () => {
    expect(fleetOptionsOf({})).toBeUndefined();
    const given = {
      sandbox: "docker:?memory=512m",
      image: "a/b:1",
      warm: "2",
      caps: "active=5,total=50",
      clocks: "release=5,pause=0.5,remove=never",
    };
    expect(fleetOptionsOf({ ...http, ...given })).toEqual({
      id: "prod",
      secret: "a secret for tests only",
      hosts: undefined,
      sandbox: "docker:?memory=512m&image=a%2Fb%3A1",
      warm: 2,
      caps: { active: 5, total: 50 },
      clocks: { pauseAfterMs: 500, removeAfterMs: Number.POSITIVE_INFINITY },
      idleMs: 5_000,
    });
    expect(process.env.GLOVEBOX_FLEET_SECRET).toBeUndefined();
    expect(() => fleetOptionsOf(http)).toThrow("the fleet's secret is missing: set GLOVEBOX_FLEET_SECRET");
  });

  it.each<[McpOptions, string]>([
    [{ image: "x" }, "--image goes with --fleet, and there is none"],
    [{ fleet: "prod" }, "--fleet needs --http and --token-file"],
    [{ fleet: "prod", http: true }, "--fleet needs --http and --token-file"],
    [{ ...http, target: ["memory:"] }, "--fleet gives each user a sandbox of his own, and --target one place to all"],
    [{ ...http, warm: "-1" }, '--warm takes a whole number, not "-1"'],
    [{ ...http, caps: "active=0" }, "--caps takes NAME=NUMBER,… with the names active, activePerTenant"],
    [{ ...http, clocks: "pauseAfterMs=1" }, "--clocks takes NAME=NUMBER,… with the names pause, stop, remove, lifetime, release"],
  ])("refuses %j", (options, why) => {
    expect(() => fleetOptionsOf(options)).toThrow(why);
  });

  it("refuses sandboxes that cannot be each user's, before it asks an engine", async () => {
    const { resolveProvisioner } = await import("../../adapters/index.js");
    for (const [url, why] of [
      ["memory:", "Sandboxes of a fleet are containers"],
      ["docker://web/srv", "names one container"],
      ["docker:?name=web", "The option name"],
      ["docker:?workspace=data", "The option workspace"],
      ["docker:?host=unix:///x", "The option host"],
      ["docker:?image=a&image=b", "is there twice"],
    ] as const) {
      await expect(resolveProvisioner(undefined, url)).rejects.toThrow(why);
    }
  });

  it("has one engine or several, each by a name of its own", async () => {
    const { provisionerOf } = await import("../../src/cli/provisioner.js");
    const made = [["unix:///a"], ["a=unix:///a"], ["east=unix:///a", "unix:///b"]].map((hosts) => provisionerOf(hosts));
    const provisioners = await Promise.all(made);
    expect(provisioners.map(({ several }) => several?.health().map(({ engine }) => engine))).toEqual([
      undefined,
      ["a"],
      ["east", "unix:///b"],
    ]);
    for (const provisioner of provisioners) await provisioner.close();
    await expect(provisionerOf(["a=unix:///a", "a=unix:///b"])).rejects.toThrow("two engines are named a");
  });

  it("has a page of metrics for the token of the environment, which is strong", () => {
    expect(takeMetricsToken()).toBeUndefined();
    vi.stubEnv("GLOVEBOX_METRICS_TOKEN", "token-of-the-metrics-page");
    expect(takeMetricsToken()).toBe("token-of-the-metrics-page");
    expect(process.env.GLOVEBOX_METRICS_TOKEN).toBeUndefined();
    vi.stubEnv("GLOVEBOX_METRICS_TOKEN", "weak");
    expect(() => takeMetricsToken()).toThrow("GLOVEBOX_METRICS_TOKEN must be 16 to 512");
  });
});

it("says which fleet it lacks, and what it can do", async () => {
  const { code, stderr } = await runCli(["fleet", "metrics"], { env: { GLOVEBOX_FLEET: "" } });
  expect({ code, stderr }).toEqual({ code: 2, stderr: "glovebox: which fleet? Name it with --fleet, or set GLOVEBOX_FLEET\n" });
  expect((await runCli(["fleet", "--help"])).stdout).toContain("metrics");
});
