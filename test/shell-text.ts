import ts from "typescript";
import { nodes, placeOf, type SourceFile } from "./source-code.js";

/** Text that reads like a command: a program, a keyword or an assignment of the shell where a command can begin. */
const SHELL =
  /(?:^|[;&|(\n]|\$\()\s*(?:[A-Z]+=|(?:exec|eval|cd|printf|export|trap|kill|rm|mv|ln|cat|test|ulimit|umask|unset|setsid|env|sh|bash|if|while|for)\s)/;

/**
 * Templates of shell text that let in something else than a quoted word, a literal, or a script of ours (a constant in
 * capitals). `lookedAt` is for what a person found safe. It sees one file at a time and goes by names that begin with `quote`: what it
 * cannot see, reviews must.
 */
export function unquotedShellText({ tree }: SourceFile, lookedAt: RegExp | undefined): readonly string[] {
  const declared = new Map<string, ts.Node>();
  for (const node of nodes(tree)) {
    if ((ts.isVariableDeclaration(node) || ts.isFunctionDeclaration(node)) && node.name !== undefined)
      declared.set(node.name.getText(), node);
  }
  const isSafe = (node: ts.Node | undefined): boolean => {
    if (node === undefined) return false;
    if (lookedAt?.test(node.getText()) || ts.isNumericLiteral(node) || ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node))
      return true;
    if (ts.isParenthesizedExpression(node)) return isSafe(node.expression);
    if (ts.isConditionalExpression(node)) return isSafe(node.whenTrue) && isSafe(node.whenFalse);
    // Its own parts are looked at where it stands.
    if (ts.isTemplateExpression(node)) return node.templateSpans.every(({ expression }) => isSafe(expression));
    if (ts.isIdentifier(node)) return /^[A-Z][A-Z0-9_]*$/.test(node.text) || isSafe(initializerOf(declared.get(node.text)));
    if (!ts.isCallExpression(node)) return false;
    // `words.map((word) => quote(word)).join(" ")` as well as `quote(word)`, and `words.join(" ")` where words are that.
    if (/\bquote\w*\b/.test(node.getText())) return true;
    if (ts.isPropertyAccessExpression(node.expression)) return isSafe(node.expression.expression);
    return returnsOf(declared.get(node.expression.getText())).some(Boolean);
  };
  const returnsOf = (node: ts.Node | undefined): readonly boolean[] => {
    if (node === undefined || !ts.isFunctionDeclaration(node)) return [];
    const returned = nodes(node)
      .filter(ts.isReturnStatement)
      .map(({ expression }) => isSafe(expression));
    return returned.every(Boolean) ? returned : [];
  };
  return nodes(tree).flatMap((node) => {
    if (!ts.isTemplateExpression(node)) return [];
    const text = [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join("$");
    if (!SHELL.test(text)) return [];
    const loose = node.templateSpans.filter(({ expression }) => !isSafe(expression));
    return loose.map(
      ({ expression }) =>
        `${placeOf(expression)} puts ${expression.getText()} into a shell text: pass it as an argument, or through quote().`,
    );
  });
}

function initializerOf(node: ts.Node | undefined): ts.Node | undefined {
  return node !== undefined && ts.isVariableDeclaration(node) ? node.initializer : undefined;
}
