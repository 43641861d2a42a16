import type { Client } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, it } from "vitest";
import { memory } from "../../../adapters/memory/index.js";
import { type FleetOptions, targetProvisioner } from "../../../src/fleet/index.js";
import type { GloveboxError } from "../../../src/index.js";
import { acceptedToken, type FleetTargetsOptions, fleetTargets, type HttpOptions } from "../../../src/integrations/mcp/index.js";
import { altered, type MemoryFleet, memoryFleet, until } from "../../fleet/memory-fleet.js";
import { closeAll, connectHttp, ERAS, type Era, gate, listen, serve, TOKEN, textOf, whenDone } from "./fixtures.js";
import { INITIALIZE, rawHttp } from "./raw.js";

afterEach(closeAll);

const tokenOf = (name: string, tenant?: string): string => `token-of-${name}-at-${tenant ?? "nobody"}-0123456789`;
const people = [{ name: "ann", tenant: "acme" }, { name: "ann", tenant: "initech" }, { name: "ben", tenant: "acme" }, { name: "cleo" }];
const tokens = people.map((caller) => acceptedToken(tokenOf(caller.name, caller.tenant), caller));
const METRICS_TOKEN = "token-of-the-metrics-page";

interface Setting extends MemoryFleet {
  readonly url: string;
  readonly server: ReturnType<typeof serve>;
  readonly errors: GloveboxError[];
  /** A client with that user's token. */
  client(name: string, tenant?: string, era?: Era): Promise<Client>;
}

/** A server on a fleet of memory sandboxes. */
async function setUp(
  options: { fleet?: Partial<FleetOptions>; targets?: FleetTargetsOptions; http?: Partial<HttpOptions> } = {},
): Promise<Setting> {
  const ground = memoryFleet({ provisioner: targetProvisioner({ target: () => memory({ shell: "just-bash" }) }), ...options.fleet });
  whenDone(() => ground.fleet.close());
  const errors: GloveboxError[] = [];
  const ownTargets = fleetTargets(ground.fleet, { onError: (error) => void errors.push(error), ...options.targets });
  const server = serve({ ownTargets });
  const metrics = { tokens: [acceptedToken(METRICS_TOKEN, { name: "metrics" })], text: () => ground.fleet.metrics() };
  const { url } = await listen(server, { tokens, metrics, ...options.http });
  const client = async (name: string, tenant?: string, era: Era = "2026-07-28") =>
    (await connectHttp(url, era, tokenOf(name, tenant))).client;
  return { ...ground, url, server, errors, client };
}

const write = (client: Client, content: string) => client.callTool({ name: "write", arguments: { path: "note", content } });
const read = async (client: Client, path = "note") => textOf(await client.callTool({ name: "read", arguments: { path } }));
const codeOf = ({ _meta }: { _meta?: Record<string, unknown> }): unknown => _meta?.["glovebox.error"];

describe("whose sandbox it is", () => {
  it.each(ERAS)("is told by the token alone, the tenant's part included (%s)", async (era) => {
    const { client, fleet } = await setUp();
    const clients = await Promise.all(people.map(({ name, tenant }) => client(name, tenant, era)));
    await Promise.all(clients.map((each, index) => write(each, `of ${index}`)));
    expect(await Promise.all(clients.map((each) => read(each)))).toEqual(["of 0", "of 1", "of 2", "of 3"]);
    expect(await fleet.list()).toHaveLength(4);
  });

  it("cannot be said in a call: no tool takes a target, and one that is sent is refused", async () => {
    const { client, fleet } = await setUp();
    const ann = await client("ann", "acme");
    await write(ann, "secret");
    const name = (await fleet.list())[0]?.name ?? "";
    const ben = await client("ben", "acme");
    const { tools } = await ben.listTools();
    expect(tools.map((tool) => tool.name).sort()).toEqual(["bash", "edit", "find", "grep", "ls", "read", "write"]);
    expect(tools.filter(({ inputSchema }) => Object.hasOwn(inputSchema.properties ?? {}, "target"))).toEqual([]);
    expect(JSON.stringify(tools)).not.toContain("gbf-");
    for (const target of [name, "ann", "nobody at all"]) {
      const result = await ben.callTool({ name: "read", arguments: { path: "note", target } });
      expect(codeOf(result)).toBe("invalid_argument");
      expect(textOf(result)).not.toContain("secret");
    }
    expect(codeOf(await ben.callTool({ name: "read", arguments: { path: "note" } }))).toBe("not_found");
  });

  it("is the same in all of a user's sessions, of both revisions, which share one lease and one queue of writes", async () => {
    const { client, fleet, acts } = await setUp();
    const sessions = await Promise.all([...ERAS, ...ERAS].map((era) => client("cleo", undefined, era)));
    await Promise.all(sessions.map((each, index) => each.callTool({ name: "write", arguments: { path: `f${index}`, content: "x" } })));
    expect((await fleet.list()).map(({ leases }) => leases)).toEqual([1]);
    expect(acts().filter((act) => act === "leased")).toHaveLength(1);
    await write(sessions[0] as Client, "0\n1\n2\n3\n");
    const edit = (index: number) => ({ path: "note", edits: [{ oldText: `${index}\n`, newText: `edited ${index}\n` }] });
    const edits = sessions.map((each, index) => each.callTool({ name: "edit", arguments: edit(index) }));
    expect((await Promise.all(edits)).map(codeOf)).toEqual([undefined, undefined, undefined, undefined]);
    expect(await read(sessions[3] as Client)).toBe("edited 0\nedited 1\nedited 2\nedited 3");
  });

  it("is one tenant's: a session of the same name at another is not found", async () => {
    const { url } = await setUp();
    const { session } = await rawHttp(url, tokenOf("ann", "acme")).ask(INITIALIZE);
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
    const headers = { "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" };
    expect((await rawHttp(url, tokenOf("ann", "initech")).ask(list, headers)).status).toBe(404);
    expect((await rawHttp(url, tokenOf("ann", "acme")).ask(list, headers)).status).toBe(200);
  });

  it("has hooks of its own, such as a policy", async () => {
    const hooks: FleetTargetsOptions["hooks"] = (_environment, { key }) =>
      key === "ben" ? { beforeToolCall: async () => ({ block: true, reason: "ben reads only" }) } : {};
    const { client } = await setUp({ targets: { hooks, tools: { names: ["read", "write"] } } });
    const [ann, ben] = [await client("ann", "acme"), await client("ben", "acme")];
    expect((await ann.listTools()).tools.map(({ name }) => name)).toEqual(["read", "write"]);
    expect((await write(ann, "x")).isError).toBe(false);
    expect(textOf(await write(ben, "x"))).toContain("ben reads only");
  });

  it("holds what was cut from a long output, out of anyone else's reach", async () => {
    const { client } = await setUp();
    const ann = await client("ann", "acme");
    const long = await ann.callTool({ name: "bash", arguments: { command: "seq 1 60000" } });
    const { fullOutputPath = "" } = long.structuredContent as { readonly fullOutputPath?: string };
    expect(fullOutputPath).not.toBe("");
    expect(await read(ann, fullOutputPath)).toContain("1\n2\n3\n");
    const ben = await client("ben", "acme");
    expect(codeOf(await ben.callTool({ name: "read", arguments: { path: fullOutputPath } }))).toBe("not_found");
  });
});

describe("a lease", () => {
  it("is taken by the first call and given back when the user has not called for a while", async () => {
    const { client, fleet, acts } = await setUp({ targets: { idleMs: 150 } });
    const cleo = await client("cleo");
    await cleo.listTools();
    expect(acts()).toEqual([]);
    await write(cleo, "kept");
    expect(await fleet.list()).toMatchObject([{ leases: 1 }]);
    await until(async () => (await fleet.list())[0]?.leases === 0);
    expect(await read(cleo)).toBe("kept");
    expect(acts().filter((act) => act === "leased")).toHaveLength(2);
    expect(acts().filter((act) => act === "created")).toHaveLength(1);
  });

  it("is not given back while a call runs, however long", async () => {
    const { client, acts } = await setUp({ targets: { idleMs: 20 } });
    const cleo = await client("cleo");
    expect(textOf(await cleo.callTool({ name: "bash", arguments: { command: "sleep 0.4; echo done" } }))).toBe("done");
    expect(acts().filter((act) => act === "leased")).toHaveLength(1);
  });

  it("that is not used makes room for who waits, the one that is idle longest first", async () => {
    const { client, fleet, errors } = await setUp({ fleet: { caps: { active: 2 } } });
    const [first, second, third] = [await client("ann", "acme"), await client("ben", "acme"), await client("cleo")];
    await write(first, "1");
    await write(second, "2");
    expect(await third.callTool({ name: "ls", arguments: {} })).toMatchObject({ isError: false });
    const leases = (await fleet.list()).map(({ user, leases }) => `${user?.key} ${leases}`);
    expect(leases.sort()).toEqual(["ann 0", "ben 1", "cleo 1"]);
    expect(await read(first)).toBe("1");
    expect(errors).toEqual([]);
  });

  it("is given back when the server closes, with calls under way", async () => {
    const { client, fleet, server } = await setUp();
    const call = (await client("cleo")).callTool({ name: "bash", arguments: { command: "sleep 30" } });
    await until(async () => (await fleet.list())[0]?.leases === 1);
    await server.close();
    expect(textOf(await call)).toContain("aborted");
    expect(await fleet.list()).toMatchObject([{ leases: 0 }]);
  });

  it("on a sandbox that was destroyed is of no use, and the next call gets a new one", async () => {
    const { client, fleet } = await setUp();
    const ann = await client("ann", "acme");
    await write(ann, "lost");
    await fleet.destroy("ann", { tenant: "acme" });
    const results = [await ann.callTool({ name: "read", arguments: { path: "note" } }), await write(ann, "new")];
    expect(results.map(codeOf)).toEqual(["gone", undefined]);
    expect(await read(ann)).toBe("new");
    expect(await fleet.list()).toMatchObject([{ leases: 1 }]);
  });
});

describe("a sandbox that cannot be had", () => {
  it("is a result that says what to do, and tells nothing of others; there is one when a place falls free", async () => {
    const { client, errors } = await setUp({ fleet: { caps: { active: 1, waiting: 1 } }, targets: { idleMs: 100, deadlineMs: 300 } });
    const busy = (await client("ann", "acme")).callTool({ name: "bash", arguments: { command: "sleep 1" } });
    await new Promise((resolve) => setTimeout(resolve, 100));
    const ben = await client("ben", "acme");
    const waits = ben.callTool({ name: "ls", arguments: {} });
    await new Promise((resolve) => setTimeout(resolve, 100));
    const full = await (await client("cleo")).callTool({ name: "ls", arguments: {} });
    expect({ ...full, _meta: codeOf(full) }).toMatchObject({ isError: true, _meta: "busy" });
    expect(textOf(full)).toBe("The call did not run: there is no room for your sandbox now. Wait a minute, then call again.");
    expect(textOf(await waits)).toBe("The call did not run: your sandbox was not ready within 0.3 seconds. Call again: it may be by then.");
    expect(errors.map(({ code }) => code).sort()).toEqual(["busy", "timeout"]);
    await busy;
    await until(async () => !(await ben.callTool({ name: "ls", arguments: {} })).isError);
  });

  it("is not waited for by a client that has gone away", async () => {
    const { opened, open } = gate();
    const provisioner = targetProvisioner({ target: () => memory() });
    const slow = altered(provisioner, { create: (request) => opened.then(() => provisioner.create(request)) });
    const { client, fleet, server, errors } = await setUp({ fleet: { provisioner: slow } });
    const cleo = await client("cleo");
    const controller = new AbortController();
    const call = cleo.callTool({ name: "ls", arguments: {} }, { signal: controller.signal });
    call.catch(() => undefined);
    await until(() => server.running === 1);
    controller.abort();
    await expect(call).rejects.toThrow();
    await until(() => server.running === 0);
    open();
    expect(textOf(await cleo.callTool({ name: "ls", arguments: {} }))).toContain("empty directory");
    expect(await fleet.list()).toMatchObject([{ leases: 1 }]);
    expect(errors).toEqual([]);
  });

  it("because the engine fails is said without the engine's words", async () => {
    const provisioner = altered(targetProvisioner({ target: () => memory() }), {
      create: () => Promise.reject(new Error("/run/engine.sock: no such image internal/secret")),
    });
    const { client, errors } = await setUp({ fleet: { provisioner } });
    expect(textOf(await (await client("cleo")).callTool({ name: "ls", arguments: {} }))).toBe(
      "The call did not run: your sandbox could not be made ready (unexpected). Try once more; if that does not help, tell the user that whoever runs this server has to see to it, and that its log says why.",
    );
    expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining("no such image internal/secret")]);
  });
});

describe("the page of metrics", () => {
  const ask = (url: string, token?: string, method = "GET") =>
    fetch(url.replace("/mcp", "/metrics"), { method, headers: token === undefined ? {} : { authorization: `Bearer ${token}` } });

  it("is Prometheus' text for whoever has its token, without a user in it", async () => {
    const { url, client } = await setUp();
    await write(await client("ann", "acme"), "x");
    const answer = await ask(url, METRICS_TOKEN);
    expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const text = await answer.text();
    expect(text).toContain('glovebox_fleet_leases{fleet="test"} 1\n');
    expect(text).not.toMatch(/ann|acme|gbf-/);
  });

  it("is nobody else's, and its token is good for nothing else", async () => {
    const { url } = await setUp();
    expect((await ask(url)).status).toBe(401);
    expect((await ask(url, tokenOf("cleo"))).status).toBe(401);
    expect((await ask(url, METRICS_TOKEN, "POST")).status).toBe(405);
    const call = await fetch(url, { method: "POST", body: "{}", headers: { authorization: `Bearer ${METRICS_TOKEN}` } });
    expect(call.status).toBe(401);
  });

  it("is not there unless it was asked for", async () => {
    const { url } = await setUp({ http: { metrics: undefined } });
    expect((await ask(url, METRICS_TOKEN)).status).toBe(404);
    expect((await ask(url, TOKEN)).status).toBe(404);
  });
});
