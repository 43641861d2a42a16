import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { globRegex } from "../../../adapters/posix/glob-regex.js";
import { openEnvironment } from "../../../src/environment.js";
import { portableFind } from "../../../src/layers/search/portable-find.js";
import { type ContractSession, contractCases, openContract } from "../../../src/testing/index.js";
import { eventually, openPosix, sleep } from "./open-posix.js";
import { pidsWith } from "./pids.js";
import { poorPath } from "./poor-path.js";
import { type PosixTargetOptions, posixTarget, scratchDirectory } from "./posix-target.js";

const searching = contractCases.filter(({ theme }) => theme === "grep" || theme === "find" || theme === "names");

/** Targets on which searches run on other tools than on this machine as it is. */
const targets: Readonly<Record<string, () => PosixTargetOptions>> = {
  "GNU grep and find": () => ({ transport: { env: { PATH: poorPath({ and: ["stat", "sha256sum", "setsid", "bash"] }), HOME: "/" } } }),
  "busybox grep and find": () => ({ shell: ["/bin/busybox", "sh"], transport: { env: { PATH: "/nowhere", HOME: "/" } } }),
};

describe.each(Object.entries(targets))("a search with %s keeps the contract", (_name, options) => {
  let session: ContractSession;
  beforeAll(async () => {
    const target = posixTarget({ cwd: scratchDirectory(), ...options() });
    session = await openContract({ open: () => openEnvironment(target) });
    expect(session.environment.capabilities).toMatchObject({ grep: "grep", find: "find" });
  });
  afterAll(async () => {
    await session?.close();
  });
  for (const each of searching) {
    it(`${each.theme}: ${each.name}`, async ({ skip }) => {
      const reason = session.skipReason(each);
      if (reason !== undefined) skip(reason);
      await session.run(each);
    });
  }
});

const FILES = [
  "a",
  "b.ts",
  "ab.ts",
  "src/a.ts",
  "src/b.js",
  "src/deep/er/a.ts",
  "pkg/src/a.ts",
  "a+b",
  "a.b",
  "[x]",
  "{y}",
  "a^b",
  "$a",
  "a\\b",
  ".hid/x.ts",
  "line\nfeed",
  "-n",
];
const GLOBS = [
  ...[
    "*",
    "**",
    "a*",
    "*.ts",
    "*.{ts,js}",
    "{a,b}*",
    "?",
    "??",
    "[ab]*",
    "[!a]*",
    "[^a]*",
    "src/*",
    "src/**",
    "**/*.ts",
    "src/**/*.ts",
    "**/src/*",
    "./a*",
  ],
  ...[
    "/a*",
    "*/",
    "src/",
    "**/er/",
    "a+b",
    "a.b",
    "\\[x\\]",
    "\\{y\\}",
    "a^b",
    "$a",
    "a\\\\b",
    "*\nfeed",
    "-n",
    "pkg/*/a.ts",
    "*/a.ts",
    "**/deep/**",
    "{src,pkg}/**/a.ts",
    "[a-c].ts",
    "a?b",
  ],
];

describe("globRegex", () => {
  const directory = scratchDirectory();
  afterAll(() => void execFileSync("rm", ["-rf", "--", directory]));
  for (const file of FILES) {
    mkdirSync(`${directory}/${file.includes("/") ? file.slice(0, file.lastIndexOf("/")) : ""}`, { recursive: true });
    writeFileSync(`${directory}/${file}`, "");
  }

  it.each([["find"], ["busybox", "find"]])("means with %s what the portable search makes of a glob", async (...words) => {
    const { connection } = await openPosix();
    const [program = "", ...first] = words.filter((word) => typeof word === "string");
    for (const glob of GLOBS) {
      const { regex, onlyDirectories } = globRegex(glob);
      const found = execFileSync(program, [...first, ".", ...(onlyDirectories ? ["-type", "d"] : []), "-regex", regex, "-print0"], {
        cwd: directory,
        encoding: "utf8",
        env: { PATH: process.env.PATH, LC_ALL: "C" },
      });
      const { paths } = await portableFind({ files: connection, cwd: directory }, directory, { pattern: glob, limit: 1000 });
      expect(
        found
          .split("\0")
          .slice(0, -1)
          .map((path) => path.slice(2))
          .sort(),
        glob,
      ).toEqual(paths.map(({ path }) => path).sort());
    }
  });

  it.each(["", "/", "//", "[a", "{a,b"])("refuses %j", (glob) => {
    expect(() => globRegex(glob)).toThrow(expect.objectContaining({ code: "invalid_argument" }));
  });
});

describe("a search that is not wanted any more", () => {
  it("is killed on the target, and small requests were never held up", async () => {
    const { connection, directory } = await openPosix();
    execFileSync("sh", [
      "-c",
      'cd "$1" && mkfifo fifo && dd if=/dev/zero bs=1M count=64 2>/dev/null | tr "\\000" a > big',
      "sh",
      directory,
    ]);
    const controller = new AbortController();
    const search = connection.grep?.(
      "/",
      { pattern: "no such words anywhere, surely: (a|b)+c{3}", limit: 1 },
      { signal: controller.signal },
    );
    await sleep(300);
    const begun = performance.now();
    expect((await connection.stat(directory)).kind).toBe("directory");
    expect(performance.now() - begun).toBeLessThan(5_000);
    controller.abort();
    await expect(search).rejects.toMatchObject({ code: "aborted" });
    const tag = connection.facts.bootId && "GLOVEBOX_RUN=";
    await eventually("no search is left", () => pidsWith(tag).every((pid) => !isSearch(pid)));
  });
});

function isSearch(pid: number): boolean {
  try {
    return /^(rg|grep|find)\b/.test(execFileSync("ps", ["-o", "comm=", "-p", String(pid)], { encoding: "utf8" }));
  } catch {
    return false;
  }
}
