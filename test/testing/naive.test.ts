import { spawn } from "node:child_process";
import * as files from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openEnvironment } from "../../src/environment.js";
import { type CaseResult, contractCases, naive, runContract } from "../../src/testing/index.js";
import { describeTarget } from "../support/describe-target.js";
import { killTagged } from "./kill-tagged.js";

/** What the naive adapter does wrong, and the case that must find it. */
const MUST_FAIL = [
  ["R28 it writes in place", "a read is of one moment while the file is being rewritten"],
  ["J2 it compares without a lock", "of many writers that expect the same content, over two connections, exactly one wins"],
  ["J1 it loses updates", "read, change and write with ifMatch loses no update between two connections"],
  ["P04 it compares the beginning of paths", "a sibling whose name begins like the root is outside"],
  ["R29 it checks, and then opens the path", "no read, write or listing escapes while a symlink is swapped underneath"],
  ["P29 it writes through hard links", "a file with a second name is refused with hard_link by default, and both names keep the bytes"],
  [
    "C21 it makes what a broken link points to",
    "a dangling symlink is refused with not_found, at the end and on the way, and nothing is made",
  ],
  ["P9 it takes a missing exit code for 0", "a command that a signal ended has that signal and no exit code"],
  ["L10 it hands its environment on", "only the allow-listed variables and those given are there"],
  ["P15 it lets output pile up", "a promise from onOutput holds the flow back on the target"],
  ["P6 it kills the direct child only", "aborted means gone: children in the background"],
  ["P6 it does not know sessions", "aborted means gone: a child in a session of its own"],
  ["P6 it does not wait for the end", "aborted means gone: a command that ignores TERM"],
  ["R27 it waits for the pipes", "a job of setsid that holds the pipes does not hold the call, lives on and is named"],
] as const;

/** And what it does right, so that the cases are known to tell one from the other. */
const MUST_PASS = [
  "readFile returns all bytes, the size and the canonical path",
  "missing parents are made",
  "ifMatch with another hash is conflict, says both hashes, and writes nothing",
  "paths that lead out of the root are outside_root for every verb",
  "exec resolves for any exit, with the exit code",
  "each stream is whole and in order, however they interleave",
];

describeTarget("local", "the contract against the naive adapter", () => {
  let directory: string;
  let results: ReadonlyMap<string, CaseResult>;

  beforeAll(async () => {
    directory = await files.mkdtemp(join(tmpdir(), "glovebox-naive-"));
    await files.mkdir(join(directory, "root"));
    const target = naive({ files, spawn }, join(directory, "root"));
    const wanted = new Set<string>([...MUST_FAIL.map(([, name]) => name), ...MUST_PASS]);
    const cases = contractCases.filter(({ name }) => wanted.has(name));
    expect(cases.length).toBe(wanted.size);
    const run = await runContract({ open: () => openEnvironment(target), cases });
    results = new Map(run.map((result) => [result.name, result]));
  });

  afterAll(async () => {
    await killTagged();
    await files.rm(directory, { recursive: true, force: true });
  });

  it.each(MUST_FAIL)("%s, and is caught", (_what, name) => {
    expect(results.get(name)).toMatchObject({ outcome: "failed" });
  });

  it.each(MUST_PASS)("passes where it is right: %s", (name) => {
    expect(results.get(name)).toMatchObject({ outcome: "passed" });
  });
});
