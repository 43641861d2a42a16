import assert from "node:assert/strict";
import { casesOf } from "../contract-case.js";
import { runCommand } from "../run-command.js";
import { PATIENCE_MS, within } from "../settle.js";

/** What a command may find in its environment without being given it: the allow-list, and what a shell sets by itself. */
const ALLOWED = /^(PATH|HOME|LANG|LC_[A-Z]+|TERM|TZ|TMPDIR|USER|LOGNAME|SHELL|GLOVEBOX_RUN|PWD|OLDPWD|SHLVL|_|BASHOPTS|SHELLOPTS)$/;

export const execInputCases = casesOf("exec input", [
  {
    name: "stdin is empty by default, and no terminal",
    id: "B07",
    needs: ["processes"],
    quick: true,
    async run({ environment }) {
      const run = runCommand(environment, 'cat; read -r line; echo "[$line]"; [ -t 0 ] || [ -t 1 ] || [ -t 2 ] || echo none');
      const { stdout, exitCode } = await within(PATIENCE_MS, "A command that reads stdin", run);
      assert.deepEqual({ stdout, exitCode }, { stdout: "[]\nnone\n", exitCode: 0 });
    },
  },
  {
    name: "stdin is delivered whole, byte for byte, and then ends",
    needs: ["processes"],
    async run({ environment }) {
      const stdin = Uint8Array.from({ length: 300_000 }, (_, index) => (index * 31) % 256);
      const { stdoutBytes, exitCode } = await runCommand(environment, "cat", { stdin });
      assert.ok(Buffer.from(stdoutBytes).equals(stdin), `${stdoutBytes.byteLength} bytes came back`);
      assert.equal(exitCode, 0);
    },
  },
  {
    name: "a command that does not read its stdin ends as it would",
    needs: ["processes"],
    async run({ environment }) {
      const run = runCommand(environment, "echo done; exit 4", { stdin: new Uint8Array(3_000_000) });
      const { stdout, exitCode } = await within(PATIENCE_MS, "A command that ignores stdin", run);
      assert.deepEqual({ stdout, exitCode }, { stdout: "done\n", exitCode: 4 });
    },
  },
  {
    name: "stdin cannot be taken for commands",
    id: "B06",
    needs: ["processes"],
    async run({ environment, directory, names }) {
      const { stdout } = await runCommand(environment, "echo one", { cwd: directory, stdin: Buffer.from("touch planted\necho two\n") });
      assert.equal(stdout, "one\n");
      assert.deepEqual(await names("."), []);
    },
  },
  {
    name: "env is added, whatever is in it",
    needs: ["processes"],
    async run({ environment }) {
      const odd = 'it\'s "odd" $(id) `id` \\n %s\nsecond line\n é👩‍👩‍👧 = !';
      const { stdout } = await runCommand(environment, 'printf "%s|%s|%s" "$ODD" "$EMPTY" "$_UNDER1"; printf %s "$\u007bEMPTY+set}"', {
        env: { ODD: odd, EMPTY: "", _UNDER1: "-n" },
      });
      assert.equal(stdout, `${odd}||-nset`);
    },
  },
  {
    name: "names and values that no environment can hold are refused",
    needs: ["exec"],
    async run({ environment, rejects }) {
      const wrong: readonly Readonly<Record<string, string>>[] = [
        { "A=B": "x" },
        { "": "x" },
        { "A B": "x" },
        { A: "x\0y" },
        { "A;id": "x" },
      ];
      for (const env of wrong) await rejects(environment.exec("true", { env }), "invalid_argument");
    },
  },
  {
    name: "only the allow-listed variables and those given are there",
    id: "L10",
    needs: ["processes"],
    async run({ environment }) {
      const { stdout } = await runCommand(environment, "env", { env: { GIVEN: "yes" } });
      const names = stdout
        .split("\n")
        .filter((line) => line.includes("="))
        .map((line) => line.slice(0, line.indexOf("=")));
      assert.ok(names.includes("GIVEN") && names.includes("PATH"), names.join(" "));
      assert.deepEqual(
        names.filter((name) => name !== "GIVEN" && !ALLOWED.test(name)),
        [],
      );
    },
  },
  {
    name: "a command text is the shell's alone: `$0`, `$@` and quotes are as in `sh -c`",
    id: "P10",
    needs: ["processes"],
    async run({ environment }) {
      const { stdout } = await runCommand(environment, `printf '%s\\n' "$#" 'it'"'"'s' "a  b" \\$HOME '$(id)'`);
      assert.equal(stdout, "0\nit's\na  b\n$HOME\n$(id)\n");
    },
  },
]);
