import { describe, expect, it } from "vitest";
import { memory } from "../../../adapters/memory/index.js";
import { type Environment, openEnvironment } from "../../../src/index.js";
import { aiSdkSandboxProvider } from "../../../src/integrations/ai-sdk/index.js";

/** Environments that are asked for, and whether they are closed. */
function environments() {
  const target = memory({ files: { "a.txt": "kept" } });
  const opened: { readonly environment: Environment; closed: boolean }[] = [];
  const open = async (): Promise<Environment> => {
    const environment = await openEnvironment(target);
    const entry = { environment, closed: false };
    environment.onEvent(({ type }) => {
      entry.closed ||= type === "target_closed";
    });
    opened.push(entry);
    return environment;
  };
  return { opened, open };
}

describe("the AI SDK's harness sandbox provider", () => {
  it("opens an environment for a session and closes it when the session stops", async () => {
    const { opened, open } = environments();
    const requests: (string | undefined)[] = [];
    const provider = aiSdkSandboxProvider({
      create: async ({ sessionId }) => {
        requests.push(sessionId);
        return await open();
      },
    });
    expect(provider).toMatchObject({ specificationVersion: "harness-sandbox-v1", providerId: "glovebox" });
    expect("resumeSession" in provider).toBe(false);

    const session = await provider.createSession({ sessionId: "s1" });
    expect(requests).toEqual(["s1"]);
    expect(session).toMatchObject({ id: opened[0]?.environment.id, defaultWorkingDirectory: "/workspace", ports: [] });
    expect(await session.readTextFile({ path: "a.txt" })).toBe("kept");
    expect(Object.keys(session.restricted())).not.toContain("stop");
    expect(await session.restricted().readTextFile({ path: "a.txt" })).toBe("kept");

    await session.stop();
    await session.stop();
    await session.destroy();
    expect(opened.map(({ closed }) => closed)).toEqual([true]);
    await expect(session.readTextFile({ path: "a.txt" })).rejects.toMatchObject({ code: "gone" });
  });

  it("sets a new session up, and closes what could not be set up", async () => {
    const { opened, open } = environments();
    const provider = aiSdkSandboxProvider({ create: open });
    const session = await provider.createSession({
      onFirstCreate: (sandbox, { abortSignal }) => sandbox.writeTextFile({ path: "ready", content: "yes", abortSignal }),
    });
    expect(await session.readTextFile({ path: "ready" })).toBe("yes");
    await session.stop();
    const failing = provider.createSession({
      onFirstCreate: async () => {
        throw new Error("no network");
      },
    });
    await expect(failing).rejects.toThrow("no network");
    expect(opened.map(({ closed }) => closed)).toEqual([true, true]);
  });

  it("resumes where it is told how", async () => {
    const { open } = environments();
    const resumed: string[] = [];
    const provider = aiSdkSandboxProvider({
      create: open,
      resume: async ({ sessionId }) => {
        resumed.push(sessionId);
        return await open();
      },
    });
    const session = await provider.resumeSession?.({ sessionId: "s1" });
    expect(resumed).toEqual(["s1"]);
    expect(await session?.readTextFile({ path: "a.txt" })).toBe("kept");
    await session?.destroy();
  });

  it("tells where a port is reached, if it was told", async () => {
    const { open } = environments();
    const closed = await aiSdkSandboxProvider({ create: open }).createSession();
    await expect(closed.getPortEndpoint({ port: 8080 })).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringContaining("Port 8080 of memory: cannot be reached from here: none is."),
    });
    const provider = aiSdkSandboxProvider({
      create: open,
      ports: [8080],
      portEndpoint: async ({ label }, { port, protocol = "http" }) => ({ url: `${protocol}://${label}${port}` }),
    });
    const session = await provider.createSession();
    expect(session.ports).toEqual([8080]);
    expect(await session.getPortUrl({ port: 8080, protocol: "ws" })).toBe("ws://memory:8080");
    await expect(session.getPortUrl({ port: 9090 })).rejects.toMatchObject({ code: "unsupported" });
    await Promise.all([closed.stop(), session.stop()]);
  });
});
