import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { resolveTarget } from "../../../adapters/index.js";
import { type CallResult, createScheduler, createTools, type Environment, openEnvironment } from "../../../src/index.js";
import { type PiOperations, piOperations } from "../../../src/integrations/pi/index.js";
import { loadHost } from "../hosts.js";
import { type Call, callsOn, FILES } from "./calls.js";

/*
 * Pi's own tools, run over Pi's local operations in a directory of this machine, and over ours on each target. Prints what
 * each call came to and what is in every file afterwards, as JSON, by target; "" is Pi alone.
 */

interface PiTool {
  execute(
    id: string,
    parameters: object,
    signal?: AbortSignal,
  ): Promise<{ readonly content: readonly object[]; readonly isError?: boolean }>;
}
type Factory = (cwd: string, options?: { operations?: unknown }) => PiTool;

const { packages, directory, urls } = JSON.parse(process.argv[2] ?? "{}") as {
  readonly packages: string;
  readonly directory: string;
  readonly urls: Readonly<Record<string, string>>;
};
const pi = await loadHost<Readonly<Record<string, Factory>>>(packages, "@earendil-works/pi-coding-agent");

const makers: Readonly<Record<keyof PiOperations, string>> = {
  read: "createReadTool",
  write: "createWriteTool",
  edit: "createEditTool",
  bash: "createBashTool",
  grep: "createGrepTool",
  find: "createFindTool",
  ls: "createLsTool",
};

/** Pi's own grep searches this machine whatever it is given; on a target ours, which the extension puts in its place, answers. */
function ourGrep(environment: Environment): PiTool {
  const scheduler = createScheduler({ tools: createTools(environment, { names: ["grep"] }) });
  return {
    async execute(id, given) {
      const { results } = await scheduler.runBatch([{ id, name: "grep", arguments: given }]);
      return results[0] as CallResult;
    },
  };
}

function toolsIn(cwd: string, operations?: PiOperations): Readonly<Record<string, PiTool>> {
  const names = Object.keys(makers) as (keyof PiOperations)[];
  return Object.fromEntries(names.map((name) => [name, pi[makers[name]]?.(cwd, operations && { operations: operations[name] }) as PiTool]));
}

async function runCalls(cwd: string, tools: Readonly<Record<string, PiTool>>, calls: readonly Call[]): Promise<readonly object[]> {
  const answers: object[] = [];
  for (const { name, given, abortAfterMs } of calls) {
    const signal = abortAfterMs === undefined ? undefined : AbortSignal.timeout(abortAfterMs);
    const answer = await (tools[name] as PiTool).execute("1", given, signal).then(
      ({ content, isError = false }) => ({ content, isError }),
      (error: Error) => ({ content: [{ type: "text", text: error.message }], isError: true }),
    );
    answers.push(JSON.parse(JSON.stringify(answer).replaceAll(cwd, "$CWD")) as object);
  }
  return answers;
}

async function onTarget(url: string) {
  await using environment = await openEnvironment(await resolveTarget(url));
  for (const [path, content] of Object.entries(FILES)) await environment.writeFile(path, Buffer.from(content));
  const tools = { ...toolsIn(environment.cwd, piOperations(environment)), grep: ourGrep(environment) };
  const answers = await runCalls(environment.cwd, tools, callsOn(url));
  const files: Record<string, string> = {};
  const visit = async (folder: string): Promise<void> => {
    for (const { name, kind } of await environment.readdir(folder)) {
      const path = `${folder}/${name}`;
      if (kind === "directory") await visit(path);
      else files[path.slice(environment.cwd.length + 1)] = sha256((await environment.readFile(path)).data);
    }
  };
  await visit(environment.cwd);
  return { answers, files };
}

async function onThisMachine() {
  for (const [path, content] of Object.entries(FILES)) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), content);
  }
  const answers = await runCalls(directory, toolsIn(directory), callsOn(""));
  const files: Record<string, string> = {};
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) files[path.slice(directory.length + 1)] = sha256(await readFile(path));
  }
  return { answers, files };
}

function sha256(data: Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

const onTargets = Object.entries(urls).map(async ([name, url]) => [name, await onTarget(url)] as const);
const ran = await Promise.all([(async () => ["", await onThisMachine()] as const)(), ...onTargets]);
console.log(JSON.stringify(Object.fromEntries(ran)));
