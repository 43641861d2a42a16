import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { local } from "../../../adapters/local/index.js";
import { openEnvironment } from "../../../src/environment.js";

/*
 * Reads ROOT/fifo in every way, then a plain file: were one of them to block, four would stop the whole process.
 */
const [root = ""] = process.argv.slice(2);
const environment = await openEnvironment(local(root));
writeFileSync(join(root, "plain"), "plain");

const codeOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => "resolved",
    (error: { code?: string }) => error.code,
  );
const pending = Array.from({ length: 6 }, () => codeOf(environment.readFile("fifo")));
const lines = codeOf(environment.readFile("fifo", { lines: { start: 1, count: 1 } }));
const write = codeOf(environment.writeFile("fifo", Buffer.from("x")));
const grep = codeOf(environment.grep("fifo", { pattern: "x", limit: 1 }));
const plain = Buffer.from((await environment.readFile("plain")).data).toString();

process.stdout.write(
  JSON.stringify({ reads: await Promise.all(pending), lines: await lines, write: await write, grep: await grep, plain }),
);
