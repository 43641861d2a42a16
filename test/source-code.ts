import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

export interface Import {
  /** As written: `./x.js`, `node:fs`, `diff`. */
  readonly specifier: string;
  /** For a relative one: the file it names, relative to the repository. */
  readonly file?: string;
  /** "type" is gone at run time, "lazy" is an `await import()`. */
  readonly kind: "static" | "lazy" | "type";
  readonly line: number;
}

export interface SourceFile {
  /** Relative to the repository. */
  readonly path: string;
  readonly text: string;
  readonly lines: number;
  readonly imports: readonly Import[];
  readonly tree: ts.SourceFile;
}

/** Every TypeScript file under a folder of the repository, read and taken apart. */
export function sourceFiles(folder: string): readonly SourceFile[] {
  if (!existsSync(join(ROOT, folder))) return [];
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => readSource(relative(ROOT, join(entry.parentPath, entry.name))))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

export function readSource(path: string): SourceFile {
  return parseSource(path, readFileSync(join(ROOT, path), "utf8"));
}

export function parseSource(path: string, text: string): SourceFile {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  return { path, text, lines: text.split("\n").length - 1, imports: importsOf(tree), tree };
}

/** Every node of a tree, in no particular order. */
export function nodes(tree: ts.Node): readonly ts.Node[] {
  const found: ts.Node[] = [];
  const pending = [tree];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    found.push(node);
    ts.forEachChild(node, (child) => void pending.push(child));
  }
  return found;
}

/** `path:line` of a node, for messages. */
export function placeOf(node: ts.Node): string {
  const tree = node.getSourceFile();
  return `${tree.fileName}:${lineOf(node)}`;
}

function lineOf(node: ts.Node): number {
  return node.getSourceFile().getLineAndCharacterOfPosition(node.getStart()).line + 1;
}

function importsOf(tree: ts.SourceFile): readonly Import[] {
  return nodes(tree).flatMap((node) => {
    const found = importOf(node);
    if (found === undefined) return [];
    const file = found.specifier.startsWith(".")
      ? normalize(join(dirname(tree.fileName), found.specifier)).replace(/\.js$/, ".ts")
      : undefined;
    return [{ ...found, file, line: lineOf(node) }];
  });
}

function importOf(node: ts.Node): Pick<Import, "specifier" | "kind"> | undefined {
  if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier)) {
    return { specifier: node.moduleSpecifier.text, kind: isTypeOnly(node) ? "type" : "static" };
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal)) {
    return { specifier: node.argument.literal.text, kind: "type" };
  }
  if (!ts.isCallExpression(node) || node.expression.kind !== ts.SyntaxKind.ImportKeyword) return undefined;
  const [specifier] = node.arguments;
  return specifier && ts.isStringLiteral(specifier) ? { specifier: specifier.text, kind: "lazy" } : undefined;
}

function isTypeOnly(node: ts.ImportDeclaration | ts.ExportDeclaration): boolean {
  if (ts.isExportDeclaration(node)) {
    const named = node.exportClause !== undefined && ts.isNamedExports(node.exportClause) ? node.exportClause.elements : [];
    return node.isTypeOnly || (named.length > 0 && named.every((each) => each.isTypeOnly));
  }
  return node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
}
