import ts from "typescript";
import { describe, expect, it } from "vitest";
import { unquotedShellText } from "./shell-text.js";
import { nodes, parseSource, placeOf, readSource, type SourceFile, sourceFiles } from "./source-code.js";

const src = sourceFiles("src");
const adapters = sourceFiles("adapters");
const product = [...src, ...adapters];
const tests = sourceFiles("test");

/** Which folder may import which of ours, and what for. A folder may always import itself. */
const RULES: readonly { readonly of: RegExp; readonly may: RegExp; readonly why: string }[] = [
  { of: /^src\/(contract|text)\//, may: /^$/, why: "everyone builds on these two, so they build on nothing of ours" },
  { of: /^src\/tools\//, may: /^src\/(contract|text)\//, why: "a tool is written against the verbs and runs on any target" },
  {
    of: /^src\/(layers|scheduler)\//,
    may: /^src\/contract\//,
    why: "layers and scheduler know the contract, not the tools nor each other",
  },
  { of: /^src\/environment\.ts$/, may: /^src\/(contract|layers)\//, why: "it joins a connection to its layers and knows no adapter" },
  {
    of: /^src\/fleet\//,
    may: /^src\/(contract\/|environment\.ts$)/,
    why: "a fleet opens environments and does not care what runs on them",
  },
  { of: /^src\/testing\//, may: /^src\/(contract|layers)\//, why: "the contract suite is published for adapters that are not ours" },
  {
    of: /^src\/integrations\//,
    may: /^src\/(index\.ts$|fleet\/)/,
    why: "an integration adds a host's shape to the public API and nothing else",
  },
  {
    of: /^src\/cli\//,
    may: /^(src\/|adapters\/index\.ts$|package\.json$)/,
    why: "the command line is the one place in src that names adapters, and it asks for them by URL",
  },
  {
    of: /^src\/index\.ts$/,
    may: /^src\/(contract|layers|scheduler|tools|fleet)\/|^src\/environment\.ts$/,
    why: "the public API names no adapter and no host",
  },
  { of: /^adapters\/(index|nested)\.ts$/, may: /^(adapters\/|src\/contract\/)/, why: "adapters meet here and nowhere else" },
  { of: /^adapters\/posix\//, may: /^src\/contract\//, why: "it serves every adapter, so it knows none" },
  {
    of: /^adapters\/[^/]+\//,
    may: /^(src\/contract|adapters\/posix)\//,
    why: "an adapter knows the contract, not the tools, nor the scheduler, nor another adapter",
  },
];

/** Where each package may be imported from. One that is not here is not a dependency yet: that is a decision. */
const PACKAGES: Readonly<Record<string, RegExp>> = {
  "@sinclair/typebox": /^src\/contract\/schema\.ts$/,
  "@sinclair/typebox/compiler": /^src\/contract\/schema\.ts$/,
  "p-queue": /^src\/(contract\/mutation-queue\.ts|scheduler\/.*)$/,
  diff: /^src\/text\//,
  sharp: /^src\/tools\//,
  cockatiel: /^src\/layers\//,
  "@opentelemetry/api": /^src\/layers\//,
  commander: /^src\/cli\//,
  dockerode: /^adapters\/docker\//,
  ssh2: /^adapters\/ssh\//,
  "ssh-config": /^adapters\/ssh\//,
  "tar-stream": /^src\/fleet\/files\/archive-read\.ts$/,
  "just-bash": /^adapters\/memory\//,
};

/** Node's modules that reach the machine we run on. In src only the command line and the integrations may. */
const OF_THE_HOST = /^node:(fs|fs\/promises|child_process|cluster|dgram|http|http2|https|inspector|net|os|path|repl|tls|vm)$/;

describe("the dependency rule", () => {
  it("lets each folder import what it may", () => {
    const broken = product.flatMap(({ path, imports }) => {
      const rule = RULES.find(({ of }) => of.test(path));
      if (rule === undefined) return [`${path} is in no folder that has a rule. See "Where does new code go?" in docs/design.md.`];
      return imports
        .filter(({ file }) => file !== undefined && !rule.may.test(file) && folderOf(file) !== folderOf(path))
        .map(({ file, line }) => `${path}:${line} imports ${file}, and may not: ${rule.why}.`);
    });
    expect(broken.join("\n")).toBe("");
  });

  it("keeps each package in its place", () => {
    const broken = product.flatMap(({ path, imports }) =>
      imports
        .filter(
          ({ specifier }) => !/^(\.|node:)/.test(specifier) && !PACKAGES[specifier]?.test(path) && !path.startsWith("src/integrations/"),
        )
        .map(({ specifier, line }) => `${path}:${line} imports ${specifier}, which ${place(specifier)}.`),
    );
    expect(broken.join("\n")).toBe("");
  });

  it("keeps src away from the machine it runs on", () => {
    const broken = src
      .filter(({ path }) => !/^src\/(cli|integrations)\//.test(path))
      .flatMap((file) => [
        ...file.imports
          .filter(({ specifier }) => OF_THE_HOST.test(specifier))
          .map(
            ({ specifier, line }) =>
              `${file.path}:${line} imports ${specifier}: files, processes and paths are the target's. Ask a verb, or use node:path/posix.`,
          ),
        ...uses(file, "process", "env").map(
          (where) => `${where} reads process.env: take an option, and let the command line read the environment.`,
        ),
      ]);
    expect(broken.join("\n")).toBe("");
  });

  it("has no import in a circle", () => {
    const found = new Set<string>();
    const byPath = new Map(product.map((file) => [file.path, file]));
    const done = new Set<string>();
    const visit = (path: string, way: readonly string[]): void => {
      if (way.includes(path)) found.add([...way.slice(way.indexOf(path)), path].join(" -> "));
      if (way.includes(path) || done.has(path)) return;
      for (const { file, kind } of byPath.get(path)?.imports ?? [])
        if (file !== undefined && kind === "static") visit(file, [...way, path]);
      done.add(path);
    };
    for (const path of byPath.keys()) visit(path, []);
    expect([...found].join("\n")).toBe("");
  });

  it("loads no more than these packages with the public API", () => {
    const packages = new Set<string>();
    const files = new Set<string>();
    const visit = (path: string): void => {
      if (files.has(path)) return;
      files.add(path);
      for (const { specifier, file, kind } of readSource(path).imports) {
        if (kind !== "static") continue;
        if (file !== undefined) visit(file);
        else if (!specifier.startsWith("node:")) packages.add(specifier);
      }
    };
    visit("src/index.ts");
    expect([...packages].sort()).toEqual(["@sinclair/typebox", "@sinclair/typebox/compiler", "p-queue"]);
  });
});

describe("habits", () => {
  it("files are short: 300 lines, tests 350", () => {
    const long = [...product.filter(({ lines }) => lines > 300), ...tests.filter(({ lines }) => lines > 350)];
    expect(long.map(({ path, lines }) => `${path} has ${lines} lines: one idea each, named after it.`).join("\n")).toBe("");
  });

  it("what is exported is named: no `export *`, no default export", () => {
    const broken = product.flatMap(({ tree }) =>
      nodes(tree)
        .filter(
          (node) =>
            ts.isExportAssignment(node) ||
            (node.kind === ts.SyntaxKind.DefaultKeyword && ts.isFunctionDeclaration(node.parent)) ||
            (ts.isExportDeclaration(node) && (node.exportClause === undefined || ts.isNamespaceExport(node.exportClause))),
        )
        .map((node) => `${placeOf(node)}: ${node.getText()}`),
    );
    expect(broken.join("\n")).toBe("");
  });

  it("imports are relative with an ending, or a package", () => {
    const broken = product.flatMap(({ path, imports }) =>
      imports
        .filter(({ specifier, file }) => (file !== undefined && !/\.js(on)?$/.test(specifier)) || isBareBuiltin(specifier))
        .map(({ specifier, line }) => `${path}:${line} ${specifier}`),
    );
    expect(broken.join("\n")).toBe("");
  });

  it("timers can be faked: neither node:timers/promises nor AbortSignal.timeout", () => {
    const broken = product.flatMap((file) => [
      ...file.imports.filter(({ specifier }) => specifier === "node:timers/promises").map(({ line }) => `${file.path}:${line}`),
      ...uses(file, "AbortSignal", "timeout"),
    ]);
    expect(broken.join("\n")).toBe("");
  });

  it("nothing is left for later, switched off, or named after nothing", () => {
    const later = new RegExp(["TO", "DO|FIX", "ME|@ts-", "ignore|@ts-", "nocheck|biome-", "ignore|eslint-", "disable"].join(""));
    const off = /\b(?:it|test|describe)\.(?:skip|only|todo)\(/;
    const isOff = (path: string, line: string): boolean => off.test(line) && path !== SKIPS_VISIBLY;
    const broken = [...product, ...tests].flatMap(({ path, text }) => [
      ...text.split("\n").flatMap((line, at) => (later.test(line) || isOff(path, line) ? [`${path}:${at + 1} ${line.trim()}`] : [])),
      ...(/\/(utils?|helpers?|common|misc)(\/|\.ts$)/.test(path) ? [`${path} says nothing of what is in it`] : []),
    ]);
    expect(broken.join("\n")).toBe("");
  });

  it("shell text is put together by quote() alone", () => {
    const broken = adapters.flatMap((file) => unquotedShellText(file, LOOKED_AT[file.path]));
    expect(broken.join("\n")).toBe("");
  });
});

describe("these tests", () => {
  it("see what they are for", () => {
    const { imports } = parseSource("adapters/x/y.ts", 'import a from "./a.js"; export type { B } from "../b.js"; await import("c");');
    expect(imports).toEqual([
      { specifier: "c", kind: "lazy", line: 1, file: undefined },
      { specifier: "../b.js", kind: "type", line: 1, file: "adapters/b.ts" },
      { specifier: "./a.js", kind: "static", line: 1, file: "adapters/x/a.ts" },
    ]);
    const unquoted = (text: string) => unquotedShellText(parseSource("adapters/x/y.ts", text), undefined);
    expect(unquoted(`run(\`cd \${directory} && ls\`)`)).toEqual([
      "adapters/x/y.ts:1 puts directory into a shell text: pass it as an argument, or through quote().",
    ]);
    expect(unquoted(`const words = names.map((name) => quote(name)).join(); run(\`rm -f \${words} \${quote(last)} \${SCRIPT}\`)`)).toEqual(
      [],
    );
    expect(unquoted(`throw new Error(\`The directory \${directory} is not there: cd to another.\`)`)).toEqual([]);
  });
});

/** A target that is not there is a skip with its reason, and this is the one place that makes it. */
const SKIPS_VISIBLY = "test/support/describe-target.ts";

/** What a person looked at and found safe in a shell text, beside what is quoted. */
const LOOKED_AT: Readonly<Record<string, RegExp>> = {
  // Numbers of the target's options, and text made of them.
  "adapters/local/shell.ts": /^(openFiles|limits|Math\.ceil\(fileBytes \/ \d+\))$/,
  // "3" or "9", as written there; "bash", or the words that started the shell.
  "adapters/posix/exec-request.ts": /^(descriptor|context\.commandShell)$/,
  // A number made of the query's own; flags written there, or put through quote().
  "adapters/posix/search-grep.ts": /^(show|mostLines)$/,
  // Digits, checked when the probe's answer was read; random hexadecimal digits of ours.
  "adapters/posix/library.ts": /^(facts\.(uid|gid|pidNamespace)|place\.connectionId|options\.(marker|tag))$/,
};

function folderOf(path: string): string {
  return path.split("/").slice(0, 2).join("/");
}

function place(specifier: string): string {
  const where = PACKAGES[specifier];
  return where === undefined ? "has no place in PACKAGES: a new dependency is a decision" : `belongs to ${where.source}`;
}

function uses({ tree }: SourceFile, object: string, property: string): readonly string[] {
  return nodes(tree)
    .filter((node) => ts.isPropertyAccessExpression(node) && node.expression.getText() === object && node.name.text === property)
    .map(placeOf);
}

function isBareBuiltin(specifier: string): boolean {
  return /^(assert|buffer|child_process|crypto|events|fs|http|https|net|os|path|process|stream|timers|tls|url|util|worker_threads|zlib)(\/|$)/.test(
    specifier,
  );
}
