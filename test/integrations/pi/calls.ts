import { pixelFile } from "../pixel.js";

/** What is there before the calls: on the target, and, for comparison, in a directory of this machine. */
export const FILES: Readonly<Record<string, string | Uint8Array>> = {
  // Outside of a repository, Pi gives fd an option that Debian's fd does not know yet.
  ".git/HEAD": "ref: refs/heads/main\n",
  "README.md": "# Orders\n\nCounts orders.\n",
  "src/orders.ts": "export const currency = 'EUR';\nexport const total = (prices) => prices.length;\n",
  "src/deep/er/tax.ts": "export const rate = 0.2;\n",
  "dos.txt": "one\r\ntwo\r\nthree\r\n",
  "bom.txt": "\ufeffstart\nend\n",
  "lines.txt": Array.from({ length: 3_000 }, (_, index) => `line ${index + 1}\n`).join(""),
  "wide.txt": `${"x".repeat(60_000)}\nshort\n`,
  "bytes.txt": `${"y".repeat(999)}\n`.repeat(80),
  "empty.txt": "",
  "pixel.png": pixelFile(),
  "node_modules/left-pad/index.ts": "module.exports = 1;\n",
  "it's odd/$(touch hacked).md": "odd\n",
};

export interface Call {
  readonly name: "read" | "write" | "edit" | "bash" | "grep" | "find" | "ls";
  readonly given: object;
  /** The text is that of the operations, ours or Pi's: only that it is an error is the same. */
  readonly ownWords?: true;
  /** Pi names a file of the machine that it runs on. */
  readonly namesTempFile?: true;
  readonly abortAfterMs?: number;
}

const edit = (path: string, ...edits: readonly (readonly [string, string])[]): Call => ({
  name: "edit",
  given: { path, edits: edits.map(([oldText, newText]) => ({ oldText, newText })) },
});
const bash = (command: string, more: object = {}): Call => ({ name: "bash", given: { command, ...more } });

const CALLS: readonly Call[] = [
  { name: "read", given: { path: "README.md" } },
  { name: "read", given: { path: "lines.txt" } },
  { name: "read", given: { path: "lines.txt", offset: 2_990, limit: 5 } },
  { name: "read", given: { path: "lines.txt", offset: 9_999 } },
  { name: "read", given: { path: "wide.txt" } },
  { name: "read", given: { path: "bytes.txt" } },
  { name: "read", given: { path: "empty.txt" } },
  { name: "read", given: { path: "pixel.png" } },
  { name: "read", given: { path: "it's odd/$(touch hacked).md" } },
  { name: "read", given: { path: "missing.txt" }, ownWords: true },
  { name: "read", given: { path: "src" }, ownWords: true },
  { name: "write", given: { path: "new/dir/file.txt", content: "fresh é\n" } },
  { name: "write", given: { path: "README.md", content: "replaced" } },
  { name: "write", given: { path: "src", content: "no" }, ownWords: true },
  edit("src/orders.ts", ["'EUR'", "'USD'"], ["prices.length", "prices.reduce((a, b) => a + b, 0)"]),
  edit("dos.txt", ["two", "2"]),
  edit("bom.txt", ["start", "begin"]),
  edit("src/orders.ts", ["not there", "x"]),
  { ...edit("missing.txt", ["a", "b"]), ownWords: true },
  bash("echo out; sleep 0.2; echo err >&2"),
  bash("printf 'no newline'; exit 3"),
  bash("cat nothing.txt 2>/dev/null; pwd; cd src && cat deep/er/tax.ts"),
  bash("true"),
  { ...bash("seq 1 2500 | sed 's/^/row /'"), namesTempFile: true },
  { name: "grep", given: { pattern: "export const \\w+", path: "src" } },
  { name: "grep", given: { pattern: "TAX|RATE", path: "src/deep/er/tax.ts", ignoreCase: true } },
  { name: "grep", given: { pattern: "line 2999", path: "lines.txt", context: 1 } },
  { name: "grep", given: { pattern: "prices.reduce((", literal: true, glob: "*.ts" } },
  { name: "find", given: { pattern: "*.ts", path: "src" } },
  { name: "find", given: { pattern: "er/*.ts", path: "src/deep" } },
  { name: "find", given: { pattern: "*.nothing" } },
  { name: "find", given: { pattern: "*.ts", path: "nowhere" }, ownWords: true },
  { name: "find", given: { pattern: "*.ts", path: "src", limit: 2 } },
  { name: "ls", given: {} },
  { name: "ls", given: { path: "src" } },
  { name: "ls", given: { limit: 2 } },
  { name: "ls", given: { path: "nowhere" } },
  { name: "ls", given: { path: "README.md" } },
];

/** Where commands are processes that can be killed. */
const KILLING_CALLS: readonly Call[] = [
  bash("echo before; sleep 60", { timeout: 0.5 }),
  { ...bash("echo before; sleep 60"), abortAfterMs: 500 },
  bash("kill -TERM $$"),
];

/** just-bash, which runs the commands in memory, has no processes. */
export function callsOn(url: string): readonly Call[] {
  return url.startsWith("memory:") ? CALLS : [...CALLS, ...KILLING_CALLS];
}
