import { describe, expect, it } from "vitest";
import { engineAddress } from "../../../adapters/docker/engine-address.js";

const refused = expect.objectContaining({ code: "invalid_argument" });

describe("the engine's address", () => {
  it("is the option, else DOCKER_HOST, else a default socket", () => {
    expect(engineAddress({ host: "unix:///a.sock" }, { DOCKER_HOST: "unix:///b.sock" }).modem.socketPath).toBe("/a.sock");
    expect(engineAddress({}, { DOCKER_HOST: "unix:///b.sock" }).modem.socketPath).toBe("/b.sock");
    expect(engineAddress({}, {}).modem.socketPath).toMatch(/docker\.sock$/);
    expect(engineAddress({}, { DOCKER_HOST: "" }).local).toBe(true);
  });

  it("is used without TLS on this machine only, unless that is allowed", () => {
    expect(engineAddress({ host: "tcp://127.0.0.1:2375" }, {}).modem).toMatchObject({ protocol: "http", host: "127.0.0.1", port: "2375" });
    expect(engineAddress({ host: "localhost" }, {}).modem).toMatchObject({ protocol: "http", port: "2375" });
    expect(engineAddress({ host: "tcp://[::1]:99" }, {}).modem).toMatchObject({ protocol: "http", host: "::1", port: "99" });
    expect(() => engineAddress({ host: "tcp://10.0.0.1:2375" }, {})).toThrow(refused);
    expect(engineAddress({ host: "tcp://10.0.0.1:2375", allowUnencryptedEngine: true }, {}).modem.protocol).toBe("http");
  });

  it("speaks TLS where the docker command would", () => {
    expect(engineAddress({ host: "tcp://box:2376" }, {}).modem).toMatchObject({ protocol: "https", port: "2376" });
    expect(engineAddress({ host: "tcp://box" }, { DOCKER_TLS_VERIFY: "1" }).modem).toMatchObject({ protocol: "https", port: "2376" });
    expect(engineAddress({ host: "https://box" }, {}).modem.protocol).toBe("https");
    expect(() => engineAddress({ host: "tcp://box", certificates: "/nonexistent" }, {})).toThrow(
      expect.objectContaining({ code: "auth_failed" }),
    );
  });

  it("lets the environment say nothing once an engine was handed over", async () => {
    const { Agent } = await import("node:http");
    const agent = new Agent();
    const address = engineAddress({ engine: { label: "ssh://box", agent } }, { DOCKER_HOST: "tcp://elsewhere:1" });
    expect(address).toMatchObject({ label: "ssh://box", local: false, agent });
    expect(address.modem).toMatchObject({ protocol: "http", host: "engine", socketPath: undefined });
  });

  it.each([
    "unix://relative",
    "ssh://user@box",
    "npipe:////./pipe/docker",
    "tcp://",
    "tcp://u:p@box",
    "tcp://box/path",
    "tcp://box?x=1",
    "ftp://box",
  ])("refuses %j and shows no password", (host) => {
    expect(() => engineAddress({ host }, {})).toThrow(refused);
    try {
      engineAddress({ host }, {});
    } catch (error) {
      expect(String(error)).not.toContain("u:p");
    }
  });
});
