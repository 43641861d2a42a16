import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { readPolicyFile, refuseReachablePolicy } from "../../../src/cli/mcp-files.js";
import { addressOf, bashTimeoutOf, targetsOf, toolsOf } from "../../../src/cli/mcp-options.js";
import { takeToken, tokensOf } from "../../../src/cli/mcp-tokens.js";
import type { Environment } from "../../../src/index.js";

const directory = mkdtempSync(join(tmpdir(), "glovebox-mcp-options-"));
afterAll(() => rmSync(directory, { recursive: true }));
afterEach(() => vi.unstubAllEnvs());

describe("targets", () => {
  it.each([
    [["local:."], [{ name: undefined, url: "local:." }]],
    [["web=docker://web/srv?user=a=b"], [{ name: "web", url: "docker://web/srv?user=a=b" }]],
    [["docker:///x?image=y"], [{ name: undefined, url: "docker:///x?image=y" }]],
    [["local:a=b"], [{ name: undefined, url: "local:a=b" }]],
    [
      ["a=memory:", "b-2=local:/"],
      [
        { name: "a", url: "memory:" },
        { name: "b-2", url: "local:/" },
      ],
    ],
  ])("are %j", (given, expected) => {
    expect(targetsOf(given, undefined)).toEqual(expected);
  });

  it("come from the environment only where no flag names one, and from nowhere else", () => {
    expect(targetsOf(undefined, "memory:")).toEqual([{ name: undefined, url: "memory:" }]);
    expect(targetsOf(["local:."], "memory:")).toEqual([{ name: undefined, url: "local:." }]);
    expect(() => targetsOf(undefined, undefined)).toThrow("no target: give --target URL");
    expect(() => targetsOf(undefined, "")).toThrow("no target: give --target URL");
  });

  it("have names when there are several, each its own", () => {
    expect(() => targetsOf(["memory:", "a=memory:"], undefined)).toThrow("several targets need names");
    expect(() => targetsOf(["a=memory:", "a=local:."], undefined)).toThrow("two targets are named a");
  });
});

describe("other options", () => {
  it("tools", () => {
    expect(toolsOf(undefined)).toBeUndefined();
    expect(toolsOf("read, grep,read")).toEqual(["read", "grep"]);
    expect(() => toolsOf("read,rm")).toThrow('--tools takes some of read,bash,edit,write,grep,find,ls, not "rm"');
    expect(() => toolsOf("")).toThrow('not ""');
  });

  it("the timeouts of bash", () => {
    expect(bashTimeoutOf(undefined)).toEqual({ defaultSeconds: 50, maximumSeconds: 50 });
    expect(bashTimeoutOf("30")).toEqual({ defaultSeconds: 30, maximumSeconds: 30 });
    expect(bashTimeoutOf("0.5,600")).toEqual({ defaultSeconds: 0.5, maximumSeconds: 600 });
    for (const wrong of ["", "x", "0", "-1", "60,30", "1,2,3", "1e3", "Infinity", "1,9999999", "5s"]) {
      expect(() => bashTimeoutOf(wrong)).toThrow("--bash-timeout takes seconds as DEFAULT,MAXIMUM");
    }
  });

  it("the address", () => {
    expect(addressOf(true)).toEqual({ host: "127.0.0.1", port: 7411 });
    expect(addressOf("0")).toEqual({ host: "127.0.0.1", port: 0 });
    expect(addressOf("localhost:80")).toEqual({ host: "localhost", port: 80 });
    expect(addressOf("[::1]:80")).toEqual({ host: "[::1]", port: 80 });
    for (const wrong of ["", "host", "host:", ":80", "host:99999", "::1:80", "http://x:1", "a b:1", "-x:1 "]) {
      expect(() => addressOf(wrong)).toThrow("--http takes HOST:PORT, like 127.0.0.1:7411");
    }
  });
});

describe("tokens", () => {
  const sha256 = createHash("sha256").update("token-of-alice-0123456789").digest("hex");
  const file = (tokens: unknown) => {
    const path = join(directory, "tokens.json");
    writeFileSync(path, JSON.stringify({ tokens }), { mode: 0o600 });
    return path;
  };

  it("come from a file that maps digests to users and targets", () => {
    const { tokens, generated } = tokensOf(
      file([
        { user: "alice", sha256, targets: ["web"] },
        { user: "bob", sha256: "0".repeat(64) },
      ]),
      undefined,
      ["web", "box"],
    );
    expect(tokens.map(({ caller }) => caller)).toEqual([{ name: "alice", targets: ["web"] }, { name: "bob" }]);
    expect(generated).toBeUndefined();
  });

  it.each([
    [[], "tokens should be an array of 1 or more items"],
    [[{ user: "a b", sha256 }], "tokens[0].user should be"],
    [[{ user: "a", sha256: "token" }], "tokens[0].sha256 should be"],
    [[{ user: "a", sha256, targets: ["db"] }], 'a may use the target "db", and there are web'],
    [
      [
        { user: "a", sha256 },
        { user: "b", sha256 },
      ],
      "a digest is there twice",
    ],
    [[{ user: "a", sha256, admin: true }], "tokens[0].admin should be no such field"],
  ])("are refused when the file says %j", (tokens, why) => {
    expect(() => tokensOf(file(tokens), undefined, ["web"])).toThrow(why);
  });

  it("come from the environment, are strong, and are taken out of it", () => {
    vi.stubEnv("GLOVEBOX_TOKEN", "token-of-alice-0123456789");
    const given = takeToken();
    expect(process.env.GLOVEBOX_TOKEN).toBeUndefined();
    expect(tokensOf(undefined, given, [])).toMatchObject({ tokens: [{ caller: { name: "token" } }] });
    for (const weak of ["short", "has a blank in its middle", "x".repeat(513), "emoji-\u{1f600}-0123456789"]) {
      expect(() => tokensOf(undefined, weak, [])).toThrow("GLOVEBOX_TOKEN must be 16 to 512 printable ASCII characters without blanks");
    }
    expect(() => tokensOf(file([{ user: "a", sha256 }]), given, [])).toThrow("there is a --token-file and GLOVEBOX_TOKEN is set");
  });

  it("are made up where none is given", () => {
    vi.stubEnv("GLOVEBOX_TOKEN", "");
    const made = [tokensOf(undefined, takeToken(), []), tokensOf(undefined, takeToken(), [])].map(({ generated }) => generated ?? "");
    expect(made[0]).not.toBe(made[1]);
    expect(Buffer.from(made[0] ?? "", "base64url")).toHaveLength(32);
  });
});

describe("A15 the policy", () => {
  const workspace = join(directory, "workspace");
  const policy = '{"rules":[]}';
  const place = (root: string) => ({ kind: "local", root, label: `local:${root}` }) as Environment;
  mkdirSync(workspace);

  it("is the flag's, or the user's own, or none", () => {
    const config = join(directory, "config");
    vi.stubEnv("XDG_CONFIG_HOME", config);
    expect(readPolicyFile(undefined)).toBeUndefined();
    mkdirSync(join(config, "glovebox"), { recursive: true });
    writeFileSync(join(config, "glovebox", "policy.json"), policy, { mode: 0o600 });
    expect(readPolicyFile(undefined)).toEqual({ file: join(config, "glovebox", "policy.json"), text: policy });
    vi.stubEnv("XDG_CONFIG_HOME", "relative");
    vi.stubEnv("HOME", directory);
    expect(readPolicyFile(undefined)).toBeUndefined();
    expect(() => readPolicyFile(join(directory, "missing.json"))).toThrow("cannot read the policy file");
  });

  it("is refused where the tools could change it, under whatever name", () => {
    const inside = join(workspace, "mine.json");
    const link = join(directory, "link.json");
    writeFileSync(inside, policy);
    symlinkSync(inside, link);
    for (const file of [inside, link]) {
      expect(() => refuseReachablePolicy(file, [place(workspace)])).toThrow(
        `lies in the target local:${workspace}, whose tools could change it`,
      );
    }
    expect(() => refuseReachablePolicy(inside, [place("/")])).toThrow("whose tools could change it");
    expect(() =>
      refuseReachablePolicy(inside, [place(`${workspace}/other`), place(workspace.slice(0, -1)), { ...place(workspace), kind: "ssh" }]),
    ).not.toThrow();
  });

  it("is refused where others could have written it", () => {
    const file = join(directory, "open.json");
    writeFileSync(file, policy);
    for (const mode of [0o666, 0o620, 0o602]) {
      chmodSync(file, mode);
      expect(() => readPolicyFile(file)).toThrow("can be written by others: chmod go-w it");
    }
    chmodSync(file, 0o644);
    expect(readPolicyFile(file)?.text).toBe(policy);
  });
});
