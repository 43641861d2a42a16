import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  checkContainer,
  checkContainerPath,
  checkImage,
  checkLabels,
  checkNewName,
  checkUser,
  checkUserName,
  checkVariables,
} from "../../../adapters/docker/names.js";

const refused = expect.objectContaining({ code: "invalid_argument" });

describe("D-1 names and ids of containers", () => {
  const bad = [
    "",
    "a",
    "../images/x",
    "victim?force=1&v=1&x=",
    "json?all=1&",
    "x/exec",
    "x#",
    "%2e%2e",
    "-x",
    "a b",
    "é",
    "x".repeat(300),
    "ab\r\n",
    "ab\n",
    ".ab",
    "_ab",
    "ab\0",
    "ab\\cd",
    "ab:cd",
  ];
  it.each(bad)("refuses %j before any request", (text) => {
    expect(() => checkContainer(text)).toThrow(refused);
    expect(() => checkNewName(text, "container")).toThrow(refused);
  });

  it("takes names and full ids", () => {
    for (const text of ["ab", "web-1", "a.b_c", "0123456789ab", "f".repeat(64)]) expect(checkContainer(text)).toBe(text);
  });

  it("lets nothing through that changes a request's path", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 140, unit: "binary" }), (text) => {
        try {
          checkContainer(text);
        } catch {
          return true;
        }
        return new URL(`http://engine/containers/${text}/json`).pathname === `/containers/${text}/json`;
      }),
    );
  });

  it("gives no new thing a name that looks like an id, nor a person's thing one of ours", () => {
    expect(() => checkNewName("f".repeat(64), "container")).toThrow(refused);
    expect(() => checkUserName("glovebox-mine", "volume")).toThrow(refused);
    expect(checkNewName("glovebox-mine", "container")).toBe("glovebox-mine");
  });
});

describe("D-3 labels, variables, users, paths", () => {
  it.each([
    ["the reserved prefix", { "glovebox.owner": "x" }],
    ["the reserved prefix in other case", { "GloveBox.Owner": "x" }],
    ["a newline in the value", { a: "x\ny" }],
    ["a newline in the name", { "a\nb": "x" }],
    ["1 MiB", { a: "x".repeat(1024 * 1024) }],
    ["a long name", { ["a".repeat(300)]: "x" }],
    ["no name", { "": "x" }],
  ])("refuses a label with %s", (_, labels) => {
    expect(() => checkLabels(labels as Record<string, string>)).toThrow(refused);
  });

  it.each([
    ["a name of ours", { GLOVEBOX_RUN: "x" }],
    ["a name with a line break", { "A\nB": "x" }],
    ["a name with an equals sign", { "A=B": "x" }],
    ["NUL", { A: "x\0" }],
    ["1 MiB", { A: "x".repeat(1024 * 1024) }],
    ["a secret's name", { API_KEY: "x" }],
    ["a secret's value", { OPTIONS: "--password=x" }],
  ])("refuses a variable with %s", (_, env) => {
    expect(() => checkVariables(env as Record<string, string>, false)).toThrow(refused);
  });

  it("takes a secret where that is allowed", () => {
    expect(checkVariables({ API_KEY: "x" }, true)).toEqual({ API_KEY: "x" });
  });

  it("takes numeric users only, and never root's group by omission", () => {
    expect(checkUser("1000", false)).toEqual({ uid: 1000, gid: 1000 });
    expect(checkUser("1000:2000", false)).toEqual({ uid: 1000, gid: 2000 });
    for (const text of ["", "sandbox", "0", "0:0", "1000:0", "-1", "1000:", "99999999999", "4294967295"]) {
      expect(() => checkUser(text, false)).toThrow(refused);
    }
    expect(checkUser("0", true)).toEqual({ uid: 0, gid: 0 });
  });

  it("takes absolute paths that no mount option splits", () => {
    expect(checkContainerPath("/a//b/", "x")).toBe("/a/b");
    for (const path of ["", "a", "/a/../b", "/a/./b", "/a:ro", "/a,b", "/a\nb", `/${"a".repeat(2000)}`]) {
      expect(() => checkContainerPath(path, "x")).toThrow(refused);
    }
  });
});

describe("D-4 names of images", () => {
  const digest = `sha256:${"0".repeat(64)}`;
  it.each([
    "../x",
    "x@sha256:bad",
    "-v",
    "",
    "X",
    "a//b",
    "a/../b",
    "a:",
    "a:b:c",
    `a@${digest}x`,
    "a?b",
    "a b",
    "a\n",
    "http://x/y",
    `${"a/".repeat(200)}b`,
  ])("refuses %j", (text) => {
    expect(() => checkImage(text)).toThrow(refused);
  });
  it.each(["a", "a:1.2", "glovebox/sandbox", "registry.example:5000/a/b:tag", `a@${digest}`, `a:1@${digest}`, digest, "localhost/a_b/c-d"])(
    "takes %j",
    (text) => {
      expect(checkImage(text)).toBe(text);
    },
  );
});
