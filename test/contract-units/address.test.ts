import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseTargetUrl, TARGET_URL_SHAPES } from "../../src/contract/address.js";

const parsed = (text: string) => {
  const { scheme, authority, path, options } = parseTargetUrl(text);
  return [scheme, authority, path, Object.fromEntries(options)];
};

describe("parseTargetUrl", () => {
  it.each([
    ["local:.", "local", "", ".", {}],
    ["local:/srv/app", "local", "", "/srv/app", {}],
    ["local:///srv/app", "local", "", "/srv/app", {}],
    ["local:a b/ü#1", "local", "", "a b/ü#1", {}],
    ["local:50%25/what%3F", "local", "", "50%/what?", {}],
    ["memory:", "memory", "", "", {}],
    ["memory:?seed=./fixtures", "memory", "", "", { seed: "./fixtures" }],
    ["docker:", "docker", "", "", {}],
    ["docker://web", "docker", "web", "", {}],
    ["docker://web/workspace?user=app", "docker", "web", "/workspace", { user: "app" }],
    ["docker:///path?image=node:20&pids=64", "docker", "", "/path", { image: "node:20", pids: "64" }],
    ["docker://web/srv?host=ssh://me@box:22", "docker", "web", "/srv", { host: "ssh://me@box:22" }],
    ["ssh://me@host:2222/srv/app", "ssh", "me@host:2222", "/srv/app", {}],
    ["ssh://[::1]:22", "ssh", "[::1]:22", "", {}],
    ["SSH://host?a=b=c&d=&e=1+1%26", "ssh", "host", "", { a: "b=c", d: "", e: "1+1&" }],
    ["x:?__proto__=1", "x", "", "", Object.fromEntries([["__proto__", "1"]])],
  ])("%s", (text, ...parts) => {
    expect(parsed(text)).toEqual(parts);
    expect(parseTargetUrl(text).text).toBe(text);
  });

  it.each([
    ["", "it does not start with a scheme such as local: or ssh:"],
    ["/srv/app", "it does not start with a scheme such as local: or ssh:"],
    ["./app", "it does not start with a scheme such as local: or ssh:"],
    [" local:.", "it does not start with a scheme such as local: or ssh:"],
    ["ssh://a b/", "the host part holds blanks or control characters"],
    ["ssh://a\r\nb/", "the host part holds blanks or control characters"],
    ["memory:?seed", 'the option "seed" is not of the form name=value'],
    ["memory:?=x", 'the option "=x" is not of the form name=value'],
    ["memory:?a=1&&b=2", 'the option "" is not of the form name=value'],
    ["memory:?a=1&a=2", 'the option "a" is there twice'],
    ["memory:?a=1&%61=2", 'the option "a" is there twice'],
    ["local:100%", 'a "%" in it does not begin an escape; write %25 for the character itself'],
    ["local:%ff", 'a "%" in it does not begin an escape; write %25 for the character itself'],
    ["local:a%00b", "it holds a character that no target accepts"],
    ["local:\ud800", "it holds a character that no target accepts"],
  ])("refuses %j", (text, why) => {
    expect(() => parseTargetUrl(text)).toThrow(
      expect.objectContaining({
        code: "invalid_argument",
        retrySafe: true,
        message: `${JSON.stringify(text)} is not a target URL: ${why}. Target URLs look like ${TARGET_URL_SHAPES}.`,
      }),
    );
  });

  it("refuses a password, without repeating it", () => {
    expect(() => parseTargetUrl("ssh://me:hunter2@host/srv")).toThrow(
      `"ssh://me:…@host/srv" is not a target URL: it holds a password, and URLs end up in logs and process lists. Use a key or an agent. Target URLs look like ${TARGET_URL_SHAPES}.`,
    );
  });

  it("gives back any path and option that was escaped", () => {
    const text = fc.string({ unit: "binary" }).filter((each) => !each.includes("\0"));
    fc.assert(
      fc.property(text, text, (path, value) => {
        const url = `local:${encodeURIComponent(path)}?name=${encodeURIComponent(value)}`;
        expect(parsed(url)).toEqual(["local", "", path, { name: value }]);
      }),
    );
  });
});
