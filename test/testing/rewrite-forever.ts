import { spawn } from "node:child_process";
import * as files from "node:fs/promises";
import { local } from "../../adapters/local/index.js";
import { openEnvironment } from "../../src/environment.js";
import { naive } from "../../src/testing/index.js";

/*
 * A program to be killed: rewrites `file` in a directory without end, 8 MiB of one letter after the other.
 */
const [kind, directory = "."] = process.argv.slice(2);
const environment = await openEnvironment(kind === "naive" ? naive({ files, spawn }, directory) : local(directory));
const versions = ["a", "b"].map((letter) => Buffer.alloc(8 * 1024 * 1024, letter));
for (let turn = 0; ; turn += 1) {
  await environment.writeFile("file", versions[turn % 2] ?? Buffer.of());
  if (turn === 1) console.log("ready");
}
