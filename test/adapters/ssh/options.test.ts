import { describe, expect, it } from "vitest";
import { readAddress, ssh } from "../../../adapters/ssh/index.js";
import { parseHost } from "../../../adapters/ssh/settings.js";
import { parseTargetUrl } from "../../../src/index.js";

const read = (url: string) => readAddress(parseTargetUrl(url));
const FINGERPRINT = "SHA256:2BWn0OmHpG/zvC4ToldvC6UJJgYXN5G0U+541fqV6/A";

describe("ssh:// URLs", () => {
  it("say host, user, port and directory", () => {
    expect(read("ssh://box")).toEqual({ host: "box" });
    expect(read("ssh://ci@build-box:2222/srv/my%20app")).toEqual({ host: "build-box", user: "ci", port: 2222, cwd: "/srv/my app" });
    expect(read("ssh://[2001:db8::7]:22/")).toEqual({ host: "2001:db8::7", port: 22, cwd: "/" });
    expect(read("ssh://me%40corp@box/x")).toEqual({ host: "box", user: "me@corp", cwd: "/x" });
  });

  it("take options", () => {
    const url = `ssh://box/x?identity=/keys/id&hostKey=${FINGERPRINT}&config=none&acceptNewHostKey=1&root=/x&durable=0&hardLinks=break`;
    expect(read(url)).toEqual({
      host: "box",
      cwd: "/x",
      identity: "/keys/id",
      hostKey: FINGERPRINT,
      config: "none",
      acceptNewHostKey: true,
      root: "/x",
      durable: false,
      hardLinks: "break",
    });
  });

  it.each([
    ["ssh:///x", /names no host/],
    ["ssh://box/x?compression=1", /Unknown option "compression".*identity, hostKey, config/],
    ["ssh://box/x?__proto__=1", /Unknown option/],
    ["ssh://box/x?acceptNewHostKey=yes", /must be 1 or 0/],
    ["ssh://box/x?hardLinks=keep", /must be refuse or break/],
    ["ssh://box:0/x", /is not a host/],
    ["ssh://box:70000/x", /is not a host/],
    ["ssh://box:22:22/x", /is not a host/],
  ])("%s is refused", (url, message) => {
    expect(() => read(url)).toThrow(message);
  });

  it("a password has no place in one", () => {
    expect(() => parseTargetUrl("ssh://me:secret@box/x")).toThrow(/password/);
    expect(() => parseTargetUrl("ssh://me:secret@box/x")).not.toThrow(/secret/);
  });
});

describe("a target", () => {
  it("has a label without options, and connects only when asked", () => {
    expect(ssh("ssh://ci@box:2222/srv?identity=/keys/id").label).toBe("ssh://ci@box:2222/srv");
    expect(ssh({ host: "2001:db8::7" }).label).toBe("ssh://[2001:db8::7]");
    expect(ssh("ssh://box/srv", { user: "me" })).toMatchObject({ kind: "ssh", label: "ssh://me@box/srv" });
  });

  it.each([
    [{ host: "box", cwd: "srv" }, /working directory "srv" is not absolute/],
    [{ host: "box", root: "srv" }, /root "srv" is not absolute/],
    [{ host: "box", port: 0 }, /port 0/],
    [{ host: "box", hostKey: "MD5:00:11" }, /not a host key fingerprint/],
  ])("refuses what can never work: %j", (options, message) => {
    expect(() => ssh(options)).toThrow(message);
  });

  it.each(["-oProxyCommand=id", "a b", "$(id)", "", "a\nb", "[box"])("connecting refuses %j as a host", async (host) => {
    await expect(ssh({ host }).connect({})).rejects.toMatchObject({ code: "invalid_argument" });
  });

  it.each(["-l", "a b", "$(id)", "a\n"])("connecting refuses %j as a user", async (user) => {
    await expect(ssh({ host: "box", user }).connect({})).rejects.toMatchObject({ code: "invalid_argument" });
  });
});

describe("hosts of a ProxyJump", () => {
  it("come apart", () => {
    expect(parseHost("box")).toEqual({ host: "box" });
    expect(parseHost("me@box:22")).toEqual({ host: "box", user: "me", port: 22 });
    expect(parseHost("ssh://me@box:22")).toEqual({ host: "box", user: "me", port: 22 });
    expect(parseHost("[::1]:22")).toEqual({ host: "::1", port: 22 });
  });
});
