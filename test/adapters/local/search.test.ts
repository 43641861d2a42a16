import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createRecordReader, type RipgrepRecord } from "../../../adapters/local/ripgrep-records.js";
import type { Environment } from "../../../src/contract/target.js";
import { describeTarget } from "../../support/describe-target.js";
import { bytes, codeOf, hasProgram, makeScene, open } from "./scene.js";

const hasRipgrep = hasProgram("rg");
const hasFd = hasProgram("fd") || hasProgram("fdfind");

async function write(environment: Environment, files: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
  for (const [path, content] of Object.entries(files))
    await environment.writeFile(path, typeof content === "string" ? bytes(content) : content);
}

async function linesOf(environment: Environment, pattern: string, more: object = {}): Promise<string[]> {
  const { lines } = await environment.grep(".", { pattern, limit: 100, ...more });
  return lines.map(({ path, line, kind, text }) => `${path}${kind === "match" ? ":" : "-"}${line}${kind === "match" ? ":" : "-"} ${text}`);
}

describeTarget("local", "searches of the local adapter", () => {
  it.runIf(hasRipgrep)("L18 P08 takes patterns and paths literally, whatever options they look like", async () => {
    const { root } = makeScene();
    const environment = await open(root);
    const script = join(root, "p.sh");
    writeFileSync(script, `#!/bin/sh\ntouch ${root}/ran\n`);
    chmodSync(script, 0o755);
    await write(environment, { "-delete/a": `x --pre=${script} y\n`, "--pre": "z\n" });
    expect(await linesOf(environment, `--pre=${script}`)).toEqual([`-delete/a:1: x --pre=${script} y`]);
    expect((await environment.grep("-delete", { pattern: "x", limit: 5 })).lines).toHaveLength(1);
    expect((await environment.grep("--pre", { pattern: "-z|z", limit: 5 })).lines).toEqual([
      { path: "--pre", line: 1, kind: "match", text: "z" },
    ]);
    expect((await environment.find("-delete", { pattern: "*", limit: 5 })).paths).toEqual([{ path: "a", kind: "file" }]);
    expect(existsSync(join(root, "ran"))).toBe(false);
    expect(existsSync(join(root, "-delete/a"))).toBe(true);
  });

  it.runIf(hasRipgrep)("takes no configuration from the environment", async () => {
    const { outside, root } = makeScene();
    writeFileSync(join(outside, "rc"), "--invert-match\n");
    process.env.RIPGREP_CONFIG_PATH = join(outside, "rc");
    try {
      const environment = await open(root);
      await write(environment, { a: "one\ntwo\n" });
      expect(await linesOf(environment, "one")).toEqual(["a:1: one"]);
    } finally {
      delete process.env.RIPGREP_CONFIG_PATH;
    }
  });

  it.runIf(hasRipgrep)("honours .gitignore without a repository, at every level, and each repository its own", async () => {
    const { root } = makeScene();
    const environment = await open(root, { allowProtected: true });
    await write(environment, {
      ".gitignore": "*.log\nbuild/\n",
      "a.txt": "hit\n",
      "a.log": "hit\n",
      "build/a.txt": "hit\n",
      ".hidden/a.txt": "hit\n",
      "sub/.gitignore": "!keep.log\nlocal.txt\n",
      "sub/keep.log": "hit\n",
      "sub/local.txt": "hit\n",
      "nested/.git/config": "hit\n",
      "nested/own.log": "hit\n",
      "nested/.gitignore": "own.txt\n",
      "nested/own.txt": "hit\n",
      ".git/config": "hit\n",
    });
    expect(await linesOf(environment, "hit")).toEqual([
      ".hidden/a.txt:1: hit",
      "a.txt:1: hit",
      "nested/own.log:1: hit",
      "sub/keep.log:1: hit",
    ]);
    expect(await linesOf(environment, "hit", { glob: "*.log" })).toEqual(["nested/own.log:1: hit", "sub/keep.log:1: hit"]);
    expect(await linesOf(environment, "hit", { glob: "sub/*.{log,md}" })).toEqual(["sub/keep.log:1: hit"]);
    expect(await linesOf(environment, "hit", { glob: "./sub/*" })).toEqual(["sub/keep.log:1: hit"]);
    expect(await linesOf(environment, "hit", { glob: "{sub,nested/x}/**" })).toEqual(["sub/keep.log:1: hit"]);
    expect(await linesOf(environment, "hit", { glob: "**/own.*" })).toEqual(["nested/own.log:1: hit"]);
    expect(await linesOf(environment, "hit", { glob: "build/**" })).toEqual([]);
    expect(await linesOf(environment, "hit", { glob: "!a.txt" })).toEqual([]);
    expect(await codeOf(environment.grep(".", { pattern: "hit", glob: "sub/a{b", limit: 1 }))).toBe("invalid_argument");
  });

  it.runIf(hasRipgrep)("tells whether there is more than the limit, and keeps the context of what it shows", async () => {
    const { root } = makeScene();
    const environment = await open(root);
    await write(environment, { a: "1\nhit\n3\n4\nhit\n6\n", b: "hit\n" });
    const three = await environment.grep(".", { pattern: "hit", limit: 3 });
    expect([three.matches, three.limitReached, three.engine, three.ignoreRules]).toEqual([3, false, "ripgrep", true]);
    const two = await environment.grep(".", { pattern: "hit", limit: 2 });
    expect([two.matches, two.limitReached]).toEqual([2, true]);
    expect(await linesOf(environment, "hit", { limit: 1, context: 1 })).toEqual(["a-1- 1", "a:2: hit", "a-3- 3"]);
    expect(await linesOf(environment, "hit", { limit: 2, context: 2 })).toEqual([
      "a-1- 1",
      "a:2: hit",
      "a-3- 3",
      "a-4- 4",
      "a:5: hit",
      "a-6- 6",
    ]);
  });

  it.runIf(hasRipgrep)("skips binary files, strips line endings, survives odd names and long lines", async () => {
    const { root } = makeScene();
    const environment = await open(root);
    await write(environment, {
      binary: Buffer.concat([Buffer.from("hit\n"), Buffer.from([0, 1, 2]), Buffer.from("hit\n")]),
      "crlf.txt": "hit here\r\nother\r\n",
      'new\nline "q"': "hit\n",
      "invalid.txt": Buffer.from("caf\xe9 hit\n", "latin1"),
      "z-long.txt": `${"hit ".repeat(200_000)}\nhit\n`,
    });
    const { lines } = await environment.grep(".", { pattern: "hit", limit: 100, maxLineLength: 20 });
    expect(lines.map(({ path, line, text, cut }) => [path, line, text, cut ?? false])).toEqual([
      ["crlf.txt", 1, "hit here", false],
      ["invalid.txt", 1, "caf\uFFFD hit", false],
      ['new\nline "q"', 1, "hit", false],
      ["z-long.txt", 1, "hit hit hit hit hit ", true],
      ["z-long.txt", 2, "hit", false],
    ]);
    expect(await linesOf(environment, "here$")).toEqual(["crlf.txt:1: hit here"]);
  });

  it("records of any size come out whole, or cut where they are too long, from chunks of any size", () => {
    const record = (text: string, line: number, submatches = 0) =>
      `${JSON.stringify({ type: "match", data: { path: { text: 'a "b"' }, lines: { text }, line_number: line, absolute_offset: 0, submatches: Array.from({ length: submatches }, () => ({ match: { text: "é" }, start: 0, end: 2 })) } })}\n`;
    const tricky = '"line_number":99,é\\u0041 ';
    const input = Buffer.from(
      [record("short\n", 1), record(tricky.repeat(30_000), 2), record("many\n", 3, 20_000), record("end\n", 4)].join(""),
    );
    for (const step of [input.byteLength, 65_536, 997]) {
      const seen: RipgrepRecord[] = [];
      const read = createRecordReader((each) => seen.push(each) > 0);
      for (let at = 0; at < input.byteLength; at += step) read(input.subarray(at, at + step));
      const short = seen.map((each) => (each.type === "match" ? [each.line, each.path, each.text.slice(0, 30)] : []));
      expect(short).toEqual([
        [1, 'a "b"', "short\n"],
        [2, 'a "b"', tricky.repeat(2).slice(0, 30)],
        [3, 'a "b"', "many\n"],
        [4, 'a "b"', "end\n"],
      ]);
    }
  });

  it.runIf(hasRipgrep)("a bad pattern is refused with its position; unreadable files are counted and nothing else", async () => {
    const { root } = makeScene();
    const environment = await open(root);
    await write(environment, { a: "x\n" });
    const error = await environment.grep(".", { pattern: "ab(c", limit: 1 }).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: "invalid_argument", details: { position: 2 } });
    expect(String(error)).toContain("character 3");
    expect(await codeOf(environment.grep(".", { pattern: "x", glob: "a{b", limit: 1 }))).toBe("invalid_argument");
    expect(await codeOf(environment.grep("missing", { pattern: "x", limit: 1 }))).toBe("not_found");
    expect(await codeOf(environment.grep("..", { pattern: "x", limit: 1 }))).toBe("outside_root");
  });

  it("L19 a catastrophic pattern holds nobody up, and an abort ends a search at once", async () => {
    const { root } = makeScene();
    const environment = await open(root);
    await write(environment, { a: `${"a".repeat(40)}!\n` });
    let longest = 0;
    let last = performance.now();
    const timer = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 10);
    const { lines } = await environment.grep(".", { pattern: "(a+)+$", limit: 5 });
    clearInterval(timer);
    expect(lines).toEqual([]);
    expect(longest).toBeLessThan(2_000);
    expect(await codeOf(environment.grep("/usr/..", { pattern: "x", limit: 1 }))).toBe("outside_root");
    const machine = await open("/");
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 50);
    expect(
      await codeOf(
        machine.grep("/usr", { pattern: "no such text anywhere at all", limit: 1, ignoreCase: true }, { signal: controller.signal }),
      ),
    ).toBe("aborted");
  });

  it.runIf(hasRipgrep)("no link is followed out", async () => {
    const { outside, root } = makeScene();
    mkdirSync(join(outside, "d"));
    writeFileSync(join(outside, "d/secret"), "secret hit\n");
    symlinkSync("../d", join(root, "dir"));
    symlinkSync("../d/secret", join(root, "file"));
    const environment = await open(root);
    await write(environment, { in: "hit\n" });
    expect(await linesOf(environment, "hit")).toEqual(["in:1: hit"]);
    expect(await codeOf(environment.grep("dir", { pattern: "hit", limit: 1 }))).toBe("outside_root");
    expect(await codeOf(environment.grep("file", { pattern: "hit", limit: 1 }))).toBe("outside_root");
  });

  it.runIf(hasFd)("fd finds names and paths, sorted, with their kinds, and honours .gitignore in a repository", async () => {
    const { root } = makeScene();
    execFileSync("git", ["init", "-q", root]);
    const environment = await open(root, { allowProtected: true });
    expect(environment.capabilities.find).toBe("fd");
    await write(environment, {
      ".gitignore": "*.log\n",
      "src/b.ts": "",
      "src/a.ts": "",
      "src/a.log": "",
      "pkg/src/a.ts": "",
      ".hidden.ts": "",
      "nested/.git/HEAD": "",
      "nested/own.log": "",
      "new\nline.ts": "",
      "-dash.ts": "",
    });
    symlinkSync("src", join(root, "link.ts"));
    execFileSync("mkfifo", [join(root, "fifo.ts")]);
    const find = async (pattern: string, limit = 100, from = ".") => {
      const { paths, limitReached, engine } = await environment.find(from, { pattern, limit });
      expect(engine).toBe("fd");
      return [...paths.map(({ path, kind }) => (kind === "file" ? path : `${path} ${kind}`)), ...(limitReached ? ["more"] : [])];
    };
    const all = ["-dash.ts", ".hidden.ts", "fifo.ts fifo", "link.ts symlink", "new\nline.ts", "pkg/src/a.ts", "src/a.ts", "src/b.ts"];
    expect(await find("*.ts")).toEqual(all);
    expect(await find("*.ts", 3)).toEqual([...all.slice(0, 3), "more"]);
    expect(await find("*.ts", 8)).toEqual(all);
    expect(await find("src/*.ts")).toEqual(["src/a.ts", "src/b.ts"]);
    expect(await find("./src/*")).toEqual(["src/a.ts", "src/b.ts"]);
    expect(await find("**/src/a.ts")).toEqual(["pkg/src/a.ts", "src/a.ts"]);
    expect(await find("src/")).toEqual(["pkg/src directory", "src directory"]);
    expect(await find("*.log")).toEqual(["nested/own.log"]);
    expect(await find("*.ts", 10, "src")).toEqual(["a.ts", "b.ts"]);
    expect(await find("SRC")).toEqual([]);
    expect(await codeOf(environment.find(".", { pattern: "a[", limit: 1 }))).toBe("invalid_argument");
    expect(await codeOf(environment.find("missing", { pattern: "a", limit: 1 }))).toBe("not_found");
    expect(await codeOf(environment.find("src/a.ts", { pattern: "a", limit: 1 }))).toBe("not_directory");
  });
});
