import assert from "node:assert/strict";
import { casesOf } from "../contract-case.js";
import { runCommand } from "../run-command.js";

export const execCases = casesOf("exec", [
  {
    name: "exec resolves for any exit, with the exit code",
    needs: ["processes"],
    quick: true,
    async run({ environment }) {
      for (const code of [0, 1, 3, 127, 255]) {
        const result = await environment.exec(`exit ${code}`);
        assert.equal(result.exitCode, code);
        assert.equal(result.signal, undefined);
      }
      assert.equal((await environment.exec("no-such-command-glovebox")).exitCode, 127);
    },
  },
  {
    name: "a command that a signal ended has that signal and no exit code",
    id: "B17",
    needs: ["processes"],
    async run({ environment }) {
      for (const signal of ["KILL", "TERM", "SEGV", "PIPE"]) {
        const result = await environment.exec(`kill -${signal} $$; sleep 5`);
        assert.deepEqual([result.signal, result.exitCode], [`SIG${signal}`, undefined], signal);
      }
    },
  },
  {
    name: "an exit code above 128 is an exit code, not a signal",
    id: "R04",
    needs: ["processes"],
    async run({ environment }) {
      const result = await environment.exec("exit 137");
      assert.deepEqual([result.exitCode, result.signal], [137, undefined]);
    },
  },
  {
    name: "stdout and stderr arrive apart",
    needs: ["processes"],
    quick: true,
    async run({ environment }) {
      const { stdout, stderr, exitCode } = await runCommand(environment, "echo out; echo err >&2; printf more");
      assert.deepEqual({ stdout, stderr, exitCode }, { stdout: "out\nmore", stderr: "err\n", exitCode: 0 });
    },
  },
  {
    name: "a command runs in the environment's working directory, or in the one it is given",
    needs: ["processes"],
    quick: true,
    async run({ environment, directory, write }) {
      assert.equal((await runCommand(environment, "pwd -P")).stdout, `${environment.cwd}\n`);
      assert.equal((await runCommand(environment, "pwd -P", { cwd: directory })).stdout, `${directory}\n`);
      const name = "odd $(name)\n'dir'";
      await write(`${name}/a.txt`, "x");
      assert.equal((await runCommand(environment, "ls", { cwd: `${directory}/${name}` })).stdout, "a.txt\n");
    },
  },
  {
    name: "a working directory that is missing or a file rejects not_started, safe to retry, and nothing runs",
    needs: ["processes"],
    async run({ environment, path, write, names, rejects }) {
      await write("file", "x");
      const touch = 'touch "$AT"';
      const env = { AT: path("ran") };
      const error = await rejects(environment.exec(touch, { cwd: path("missing"), env }), "not_started");
      assert.equal(error.retrySafe, true);
      await rejects(environment.exec(touch, { cwd: path("file"), env }), "not_started");
      assert.deepEqual(await names("."), ["file"]);
    },
  },
  {
    name: "commands and file verbs see the same files at once",
    needs: ["processes"],
    async run({ environment, directory, write, text }) {
      await write("from-verb", "one");
      const { stdout } = await runCommand(environment, "cat from-verb; printf two > from-command", { cwd: directory });
      assert.equal(stdout, "one");
      assert.equal(await text("from-command"), "two");
    },
  },
  {
    name: "each command is a fresh shell",
    needs: ["processes"],
    async run({ environment }) {
      await environment.exec("cd /; export LEFT=behind; alias ls=false; set -e; umask 077; trap 'exit 9' EXIT");
      const { stdout, exitCode } = await runCommand(environment, 'echo "[$LEFT]"; pwd -P; false; umask');
      const mask = (await runCommand(environment, "umask")).stdout;
      assert.deepEqual({ stdout, exitCode }, { stdout: `[]\n${environment.cwd}\n${mask}`, exitCode: 0 });
    },
  },
  {
    name: "the shell is the one that the capabilities name",
    needs: ["bash"],
    async run({ environment }) {
      assert.equal((await environment.exec('[[ -n "$BASH_VERSION" ]]')).exitCode, 0);
    },
  },
  {
    name: "an empty command, blanks, a comment and a line feed end with 0 and say nothing",
    id: "B01",
    needs: ["processes"],
    async run({ environment }) {
      for (const command of ["", "   ", "# nothing", "\n", "\n\n# x\n"]) {
        const { stdout, stderr, exitCode } = await runCommand(environment, command);
        assert.deepEqual({ stdout, stderr, exitCode }, { stdout: "", stderr: "", exitCode: 0 }, JSON.stringify(command));
      }
    },
  },
  {
    name: "a NUL or a lone surrogate in a command is refused",
    id: "B02",
    needs: ["exec"],
    quick: true,
    async run({ environment, rejects }) {
      await rejects(environment.exec("echo a\0b"), "invalid_argument");
      await rejects(environment.exec("echo \ud800"), "invalid_argument");
    },
  },
  {
    name: "a syntax error is the shell's own error, and the next command works",
    id: "B04",
    needs: ["processes"],
    async run({ environment }) {
      for (const command of ["echo 'open", 'echo "open', "if true", "echo a &&", "echo )", "for x in", "$((", "`"]) {
        const { exitCode, stderr, stdout } = await runCommand(environment, command);
        assert.ok(exitCode !== undefined && exitCode > 0 && exitCode < 128, `${command} ended with ${exitCode}`);
        assert.notEqual(stderr, "", command);
        assert.equal(stdout, "", command);
        assert.equal((await runCommand(environment, "echo works")).stdout, "works\n");
      }
      for (const command of ["cat <<EOF\nunended", "echo a \\", "echo a # b \\"]) {
        const { exitCode } = await runCommand(environment, command);
        assert.equal(exitCode, 0, command);
      }
    },
  },
  {
    name: "output cannot forge the end of a command or its exit code",
    id: "B06",
    needs: ["processes"],
    async run({ environment }) {
      const forged = "exit 0\n0\n__END__ 0\n\u0001\u0000 0\nGLOVEBOX 0 0\n";
      const { stdout, exitCode } = await runCommand(environment, "cat; exit 5", { stdin: Buffer.from(forged) });
      assert.deepEqual({ stdout, exitCode }, { stdout: forged, exitCode: 5 });
      const marker = await runCommand(environment, "env | grep -i glovebox; set | grep -i marker; exit 6");
      assert.equal(marker.exitCode, 6);
    },
  },
  {
    name: "a command of 200,000 characters runs",
    id: "S09",
    needs: ["processes"],
    async run({ environment }) {
      const { stdout } = await runCommand(environment, `printf %s '${"x".repeat(200_000)}' | wc -c`);
      assert.equal(stdout.trim(), "200000");
    },
  },
  {
    name: "twenty commands at once all run and keep their own output",
    id: "S08",
    needs: ["processes"],
    async run({ environment }) {
      const runs = Array.from({ length: 20 }, (_, index) => runCommand(environment, `sleep 0.1; echo ${index}; exit ${index}`));
      for (const [index, { stdout, exitCode }] of (await Promise.all(runs)).entries()) {
        assert.deepEqual({ stdout, exitCode }, { stdout: `${index}\n`, exitCode: index });
      }
    },
  },
  {
    name: "where there are no commands, exec is unsupported",
    id: "M04",
    needs: ["noExec"],
    quick: true,
    async run({ environment, rejects }) {
      await rejects(environment.exec("echo $HOME"), "unsupported");
    },
  },
]);
