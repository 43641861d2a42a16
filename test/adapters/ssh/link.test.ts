import { once } from "node:events";
import { connect, createServer } from "node:net";
import { expect, it } from "vitest";
import type { GloveboxEvent } from "../../../src/index.js";
import { describeTarget } from "../../support/describe-target.js";
import { loopback } from "../../support/loopback.js";
import { startProxy } from "../../support/proxy.js";
import { startSshd } from "../../support/sshd.js";
import { codeOf, eventually, newTag, open, run, sleep, targetFor, text, typesOf } from "./scene.js";

describeTarget("ssh", "channels and connections", () => {
  it("S08 forty commands at once: none is refused a channel, and no connection bears more than the server allows", async () => {
    await using server = await startSshd();
    const environment = await open(targetFor(server));
    const results = await Promise.all(Array.from({ length: 40 }, (_, index) => run(environment, `sleep 0.5; echo ${index}`)));
    expect(results.map(({ output }) => output)).toEqual(results.map((_, index) => `${index}\n`));
    expect(await server.readLog()).not.toMatch(/no more sessions|open failed/i);
    expect((await environment.describe()).facts.connections).toBeGreaterThan(1);
    await environment.close();
  });

  it.each([1, 2, 3])("a server that allows %i sessions a connection is found out, and used over more of them", async (sessions) => {
    await using server = await startSshd({ config: [`MaxSessions ${sessions}`] });
    const environment = await open(targetFor(server));
    for (let round = 0; round < 3; round += 1) {
      const results = await Promise.all(Array.from({ length: 10 }, (_, index) => run(environment, `echo ${index}`)));
      expect(results.map(({ output }) => output)).toEqual(results.map((_, index) => `${index}\n`));
      await environment.writeFile("a", Buffer.from("x"));
      expect((await environment.readFile("a")).size).toBe(1);
    }
    const { env, survivors } = newTag();
    const abort = new AbortController();
    const command = environment.exec("setsid sleep 300 & echo; sleep 300", { env, signal: abort.signal, onOutput: () => abort.abort() });
    expect(await codeOf(command)).toBe("aborted");
    expect(await survivors()).toEqual([]);
    await environment.close();
  });

  it("a server that allows none says so", async () => {
    await using server = await startSshd({ config: ["MaxSessions 0"] });
    await expect(targetFor(server).connect({})).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringContaining("MaxSessions"),
    });
  });

  it("a server that greets one at a time is waited for, and never crowded by ourselves", async () => {
    await using server = await startSshd({ config: ["MaxStartups 1"] });
    const occupant = connect(server.port, server.host);
    await once(occupant, "data");
    const opening = open(targetFor(server));
    await sleep(700);
    occupant.destroy();
    const environment = await opening;
    await Promise.all(Array.from({ length: 20 }, () => environment.exec("sleep 0.3")));
    expect((await environment.describe()).facts.connections).toBeGreaterThan(1);
    await environment.close();
  });

  it("what is asked while an answer is awaited costs one connection", async () => {
    await using server = await startSshd();
    await using proxy = await startProxy(server);
    const environment = await open(targetFor(server, proxy));
    await Promise.all(Array.from({ length: 64 }, (_, index) => environment.writeFile(`d/${index}`, Buffer.from("x"))));
    expect(proxy.accepted).toBe(1);
    await environment.close();
  });
});

describeTarget("ssh", "a link that is cut", () => {
  it("is made again by the next call, and its listeners hear of both", async () => {
    await using server = await startSshd();
    await using proxy = await startProxy(server);
    const events: GloveboxEvent[] = [];
    const environment = await open(targetFor(server, proxy), { onEvent: (event) => void events.push(event) });
    await environment.writeFile("kept", Buffer.from("kept"));
    for (let round = 1; round <= 3; round += 1) {
      proxy.cut();
      expect(text((await environment.readFile("kept")).data)).toBe("kept");
      expect(await run(environment, "echo back")).toMatchObject({ output: "back\n", exitCode: 0 });
    }
    await environment.close();
    const lostAndFound = typesOf(events).filter((type) => type === "target_lost" || type === "target_restored");
    expect(lostAndFound).toEqual(Array.from({ length: 3 }, () => ["target_lost", "target_restored"]).flat());
  });

  it("R13 a listener that is restarted is waited for, with what has not started; what runs goes on", async () => {
    await using server = await startSshd();
    const environment = await open(targetFor(server));
    const running = run(environment, "sleep 3; echo done");
    await server.stopListening();
    // More than fits on the connection there is.
    const more = Array.from({ length: 12 }, (_, index) => run(environment, `echo ${index}; sleep 1`));
    await sleep(1_500);
    await server.startListening();
    expect(await running).toMatchObject({ output: "done\n", exitCode: 0 });
    expect((await Promise.all(more)).map(({ output }) => output)).toEqual(more.map((_, index) => `${index}\n`));
    await server.stopListening();
    await server.killConnections();
    const read = environment.readdir(".");
    await sleep(1_000);
    await server.startListening();
    expect(await read).toEqual([]);
    await environment.close();
  });

  it("a host that stays away is an error in bounded time, and closing does not wait for it", async () => {
    const server = await startSshd();
    const environment = await open(targetFor(server));
    await server.stop();
    const started = performance.now();
    expect(await codeOf(environment.readFile("a"))).toBe("disconnected");
    expect(performance.now() - started).toBeLessThan(20_000);
    // It has been away for a while now: asked once, and no more.
    const again = performance.now();
    expect(await codeOf(environment.readFile("a"))).toBe("disconnected");
    await environment.close();
    expect(performance.now() - again).toBeLessThan(5_000);
  });

  it("an abort ends the waiting for a connection at once", async () => {
    // Accepts, and never says a word.
    const silent = createServer(() => undefined).listen(0, loopback);
    await once(silent, "listening");
    const { port } = silent.address() as { readonly port: number };
    await using server = await startSshd();
    const started = performance.now();
    const target = targetFor(server, { host: loopback, port });
    await expect(target.connect({ signal: AbortSignal.timeout(300) })).rejects.toMatchObject({ code: "timeout" });
    expect(performance.now() - started).toBeLessThan(5_000);
    silent.close();
  });

  it("R34 a wrong address is said at once", async () => {
    await using server = await startSshd();
    const started = performance.now();
    await expect(targetFor(server, { host: loopback, port: 1 }).connect({})).rejects.toMatchObject({ code: "disconnected" });
    await expect(targetFor(server, { host: "host.invalid", port: 22 }).connect({})).rejects.toMatchObject({ code: "disconnected" });
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it("closing while everything is under way settles everything", async () => {
    await using server = await startSshd();
    const environment = await open(targetFor(server));
    const { env, survivors } = newTag();
    const calls = [
      environment.exec("setsid sleep 300 & sleep 300", { env }),
      environment.exec("sleep 300", { env }),
      environment.writeFile("big", Buffer.alloc(8 * 1024 * 1024, "x")),
      environment.readdir("."),
      ...Array.from({ length: 20 }, () => environment.exec("sleep 300", { env })),
    ].map(codeOf);
    await eventually("the commands run", async () => (await survivors()).length > 3);
    await environment.close();
    await Promise.all(calls);
    expect(await survivors()).toEqual([]);
    expect(await codeOf(environment.readdir("."))).toBe("gone");
    await eventually("the server has let go", async () => (await server.connectionPids()).length === 0);
  });
});
