import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import ts from "typescript";
import { installOnDemand, nodeAtLeast, orSkip } from "../support/on-demand.js";
import { runCommand } from "../support/run-command.js";

/** The hosts that our integrations are held against, as published. */
const PACKAGES = [
  "@ai-sdk/harness@1.0.122",
  "@ai-sdk/provider-utils@5.0.81",
  "@anthropic-ai/sdk@1.14.0",
  "@earendil-works/pi-coding-agent@1.6.0",
  "ai@7.0.173",
  "openai@7.59.0",
  "zod@4.6.7",
];

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Where the hosts' packages are; outside CI, the test that asks is skipped with the reason when they are not to be had. */
export async function hostPackages(skip: (reason: string) => void): Promise<string> {
  return await orSkip(skip, () => installOnDemand("hosts", PACKAGES));
}

/** A Node that the hosts run on; they want a newer one than we do. */
export async function hostNode(): Promise<string> {
  return await nodeAtLeast(22, 19);
}

/** Runs a `*.worker.ts` beside the tests on the hosts' Node and returns what it prints last, as JSON. */
export async function runWorker(url: URL, input: unknown, env: Readonly<Record<string, string>> = {}): Promise<unknown> {
  const { stdout } = await runCommand(await hostNode(), ["--import", "tsx", fileURLToPath(url), JSON.stringify(input)], { env });
  return JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "");
}

/** In a worker: a package of the hosts. */
export async function loadHost<Module>(packages: string, name: string): Promise<Module> {
  const { load } = (await import(pathToFileURL(join(packages, "load.mjs")).href)) as { load(name: string): Promise<Module> };
  return await load(name);
}

/**
 * What the compiler has to say about sources that see the hosts' packages and, as `glovebox/…`, our integrations: by name,
 * "" where it has nothing to say. All in one program: reading the hosts' declarations is what takes the time.
 */
export function typeErrors<Name extends string>(packages: string, sources: Readonly<Record<Name, string>>): Record<Name, string> {
  const config = ts.readConfigFile(join(ROOT, "tsconfig.json"), ts.sys.readFile);
  const { options: ours } = ts.parseJsonConfigFileContent(config.config, ts.sys, ROOT);
  const options = { ...ours, incremental: false, tsBuildInfoFile: undefined, typeRoots: [join(ROOT, "node_modules/@types")] };
  const texts = new Map(Object.entries<string>(sources).map(([name, text]) => [join(packages, `${name}.mts`), withOurs(text)]));
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (path) => texts.has(path) || fileExists(path);
  host.readFile = (path) => texts.get(path) ?? readFile(path);
  host.getSourceFile = (path, language, ...rest) => {
    const text = texts.get(path);
    return text === undefined ? getSourceFile.call(host, path, language, ...rest) : ts.createSourceFile(path, text, language);
  };
  const program = ts.createProgram([...texts.keys()], options, host);
  const format = { getCanonicalFileName: (name: string) => name, getCurrentDirectory: () => packages, getNewLine: () => "\n" };
  const errors = Object.keys(sources).map((name) => {
    const file = program.getSourceFile(join(packages, `${name}.mts`));
    return [name, ts.formatDiagnostics([...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)], format)];
  });
  return Object.fromEntries(errors) as Record<Name, string>;
}

/** Where the subpaths of the package come from. */
const OURS: Readonly<Record<string, string>> = {
  pi: "pi/index.js",
  "ai-sdk": "ai-sdk/index.js",
  openai: "schemas/openai.js",
  anthropic: "schemas/anthropic.js",
};

function withOurs(text: string): string {
  return text.replace(/"glovebox\/([\w-]+)"/g, (_, name: string) => JSON.stringify(join(ROOT, "src/integrations", OURS[name] ?? name)));
}
