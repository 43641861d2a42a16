import { describe, expect, it } from "vitest";
import { resolveTarget } from "../../adapters/index.js";
import { openEnvironment } from "../../src/environment.js";

describe("resolveTarget", () => {
  it("finds the adapter by the scheme", async () => {
    const kinds = ["memory:", "local:.", "docker://web/srv", "ssh://me@host/srv"].map(async (url) => (await resolveTarget(url)).kind);
    expect(await Promise.all(kinds)).toEqual(["memory", "local", "docker", "ssh"]);
  });

  it("composes a container with the host that it runs on", async () => {
    expect((await resolveTarget("docker://web/srv?host=ssh://me@box")).kind).toBe("docker");
  });

  it("makes a target that opens", async () => {
    await using environment = await openEnvironment(await resolveTarget("memory:/srv"));
    expect(environment.cwd).toBe("/srv");
  });

  it("names the schemes there are", async () => {
    await expect(resolveTarget("C:\\app")).rejects.toMatchObject({
      code: "invalid_argument",
      message: 'There is no adapter for "c:". The schemes are local:, memory:, docker:, ssh:.',
      details: { scheme: "c", known: ["local", "memory", "docker", "ssh"] },
    });
    await expect(resolveTarget("constructor:")).rejects.toMatchObject({ code: "invalid_argument" });
    await expect(resolveTarget("app")).rejects.toThrow(
      '"app" is not a target URL: it does not start with a scheme such as local: or ssh:.',
    );
  });
});
