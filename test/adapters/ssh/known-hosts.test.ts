import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  hashedName,
  judgeHostKey,
  knownHostName,
  knownKeyTypes,
  matchesPattern,
  parseKnownHosts,
} from "../../../adapters/ssh/known-hosts.js";
import { describeTarget } from "../../support/describe-target.js";
import { runCommand } from "../../support/run-command.js";

/** One line of a known_hosts file, and the hosts that ssh-keygen is asked about besides ours. */
interface Case {
  readonly what: string;
  /** The names of the line; KEY stands for a key. */
  readonly line: string;
  readonly host: string;
  readonly port?: number;
  readonly known: boolean;
}

const CASES: readonly Case[] = [
  { what: "a plain name", line: "box KEY", host: "box", known: true },
  { what: "another name", line: "box KEY", host: "bo", known: false },
  { what: "an upper-case line", line: "BOX.Example.COM KEY", host: "box.example.com", known: true },
  { what: "an upper-case host", line: "box KEY", host: "BOX", known: true },
  { what: "a list of names", line: "one,two,three KEY", host: "two", known: true },
  { what: "an address", line: "192.0.2.7 KEY", host: "192.0.2.7", known: true },
  { what: "an IPv6 address", line: "2001:db8::7 KEY", host: "2001:db8::7", known: true },
  { what: "a port", line: "[box]:2222 KEY", host: "box", port: 2222, known: true },
  { what: "another port", line: "[box]:2222 KEY", host: "box", port: 2223, known: false },
  { what: "a port where none is meant", line: "[box]:2222 KEY", host: "box", known: false },
  { what: "no port where one is meant", line: "box KEY", host: "box", port: 2222, known: false },
  { what: "an IPv6 address with a port", line: "[2001:db8::7]:2222 KEY", host: "2001:db8::7", port: 2222, known: true },
  { what: "a star", line: "*.example.com KEY", host: "a.b.example.com", known: true },
  { what: "a star that needs its dot", line: "*.example.com KEY", host: "example.com", known: false },
  { what: "a question mark", line: "box? KEY", host: "box7", known: true },
  { what: "a question mark for nothing", line: "box? KEY", host: "box", known: false },
  { what: "an exception", line: "*.example.com,!bad.example.com KEY", host: "bad.example.com", known: false },
  { what: "an exception for another", line: "*.example.com,!bad.example.com KEY", host: "good.example.com", known: true },
  { what: "an exception alone", line: "!bad KEY", host: "good", known: false },
  { what: "a wildcard with a port", line: "[*.example.com]:2222 KEY", host: "a.example.com", port: 2222, known: true },
  { what: "a wildcard for every port", line: "[box]:* KEY", host: "box", port: 2222, known: true },
  { what: "a dot that is only a dot", line: "a.b KEY", host: "axb", known: false },
  { what: "a comment", line: "# box KEY", host: "box", known: false },
  { what: "a comment at the end", line: "box KEY somebody@somewhere", host: "box", known: true },
  { what: "blanks before", line: "  \tbox KEY", host: "box", known: true },
  { what: "tabs between", line: "box\tKEY", host: "box", known: true },
  { what: "a carriage return", line: "box KEY\r", host: "box", known: true },
  { what: "no key", line: "box", host: "box", known: false },
];

describeTarget("ssh", "known_hosts, beside ssh-keygen -F", () => {
  let directory = "";
  let key = "";
  let otherKey = "";

  async function makeKey(name: string): Promise<string> {
    const file = join(directory, name);
    await runCommand("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", file]);
    const { stdout } = await runCommand("ssh-keygen", ["-y", "-f", file]);
    return stdout.trim();
  }
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "glovebox-test-"));
    key = await makeKey("a");
    otherKey = await makeKey("b");
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  const blob = (line: string): Buffer => Buffer.from(line.split(" ")[1] ?? "", "base64");
  const verdictOf = (text: string, host: string, port: number): string =>
    judgeHostKey(parseKnownHosts(text), knownHostName(host, port), blob(key)).kind;

  it.each(CASES)("$what", async ({ line, host, port = 22, known }) => {
    const text = `# first\n\n${line.replace("KEY", key)}\n`;
    expect(verdictOf(text, host, port)).toBe(known ? "known" : "unknown");
    const file = join(directory, "plain");
    writeFileSync(file, text);
    const name = knownHostName(host, port);
    const ask = async (): Promise<boolean> =>
      (await runCommand("ssh-keygen", ["-F", name, "-f", file], { allowFailure: true })).exitCode === 0;
    expect(await ask()).toBe(known);
    // What cannot be hashed (patterns) stays as it is.
    await runCommand("ssh-keygen", ["-H", "-f", file], { allowFailure: true });
    const { stdout: hashed } = await runCommand("cat", [file]);
    expect(verdictOf(hashed, host, port)).toBe((await ask()) ? "known" : "unknown");
  });

  it("passes over a line whose key is cut short or is not of the type it says, as ssh does (ssh-keygen -F goes by names alone)", () => {
    expect(verdictOf("box ssh-ed25519 AAAA\n", "box", 22)).toBe("unknown");
    expect(verdictOf(`box ssh-rsa ${key.split(" ")[1]}\n`, "box", 22)).toBe("unknown");
  });

  it("what we hash, ssh-keygen finds, and a second time it looks different", async () => {
    const file = join(directory, "ours");
    writeFileSync(file, `${hashedName("[box]:2222")} ${key}\n`);
    const { stdout } = await runCommand("ssh-keygen", ["-F", "[box]:2222", "-f", file]);
    expect(stdout).toContain(key);
    expect(hashedName("box")).not.toBe(hashedName("box"));
  });

  it("tells changed, revoked and certified apart", () => {
    expect(verdictOf(`box ${otherKey}\n`, "box", 22)).toBe("changed");
    expect(verdictOf(`box ${otherKey}\nbox ${key}\n`, "box", 22)).toBe("known");
    expect(verdictOf(`box ${key}\n@revoked * ${key}\n`, "box", 22)).toBe("revoked");
    expect(verdictOf(`box ${key}\n@revoked * ${otherKey}\n`, "box", 22)).toBe("known");
    expect(verdictOf(`@revoked other ${key}\nbox ${key}\n`, "box", 22)).toBe("known");
    expect(judgeHostKey(parseKnownHosts(`@cert-authority * ${key}\n`), "box", blob(key))).toEqual({ kind: "unknown", authority: true });
    expect(judgeHostKey(parseKnownHosts(`@cert-authority * ${key}\nbox ${otherKey}`), "box", blob(key))).toEqual({
      kind: "changed",
      knownTypes: ["ssh-ed25519"],
    });
    expect(verdictOf(`@unheard-of box ${key}\n`, "box", 22)).toBe("unknown");
    expect(knownKeyTypes(parseKnownHosts(`box ${key}\n@revoked box ${otherKey}\n`), "box")).toEqual(["ssh-ed25519"]);
  });

  it("a pattern made of stars does not stall us", () => {
    expect(matchesPattern(`${"*a".repeat(40)}b`, "a".repeat(200))).toBe(false);
    expect(matchesPattern("*".repeat(40), "a".repeat(200))).toBe(true);
  });
});
