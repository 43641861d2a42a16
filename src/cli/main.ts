#!/usr/bin/env node
import { Command, CommanderError } from "commander";
import { EXIT } from "./exit-codes.js";
import { reportFailure } from "./output.js";
import { version } from "./version.js";

/*
 * Only this file and commander are loaded for --help; each command imports the rest when it runs.
 */
const TARGET_HELP =
  "target URL: local:PATH (commands run as you, no isolation), memory:[?seed=DIR], docker://CONTAINER/PATH, docker:///PATH?image=IMAGE, ssh://USER@HOST:PORT/PATH; default $GLOVEBOX_TARGET";

const program = new Command("glovebox")
  .description("Run an agent's tools (read, write, edit, bash, grep, find, ls) on a directory, a container, an SSH host or in memory.")
  .version(version)
  .exitOverride()
  .enablePositionalOptions()
  .showHelpAfterError("(run with --help for what it takes)")
  .addHelpText(
    "after",
    `\nExit codes: 0 done, 1 the result is an error, 2 wrong usage. exec passes the command's own code on: see glovebox exec --help.`,
  );

program
  .command("call")
  .description("run one tool call")
  .argument("<tool>", "read, write, edit, bash, grep, find or ls")
  .option("-t, --target <url>", TARGET_HELP)
  .option("-a, --args <json>", "the call's arguments as a JSON object; - reads them from standard input", "{}")
  .option("--json", "print the result as one JSON object")
  .option("--read-only", "refuse writes and commands")
  .option("--audit <file>", "append one JSON line for each verb to this file")
  .action(async (tool, options) => (await import("./call.js")).call(tool, options));

program
  .command("batch")
  .description("run a model's batch of tool calls: a JSON array or one JSON object a line, each {id, name, arguments}")
  .argument("[file]", "- or nothing: standard input", "-")
  .option("-t, --target <url>", TARGET_HELP)
  .option("--json", "print one JSON line for each result, in call order")
  .option("--events", "print each event as a JSON line when it happens, results among them")
  .option("--sequential", "run the calls one by one")
  .option("--read-only", "refuse writes and commands")
  .option("--audit <file>", "append one JSON line for each verb to this file")
  .action(async (file, options) => (await import("./batch.js")).batch(file, options));

program
  .command("exec")
  .description("run a command on the target: raw output, its own exit code")
  .argument("<command...>", "after --; one word is a shell command line, several are a program and its arguments")
  .option("-t, --target <url>", TARGET_HELP)
  .option("--timeout <seconds>", "kill the command, and all that it started, after this long")
  .option("--cwd <path>", "working directory on the target")
  .option("--env <name=value...>", "add to the command's environment")
  .option("-i, --stdin", "pass standard input on to the command")
  .addHelpText(
    "after",
    "\nExit codes: the command's own; 124 timeout, 125 Glovebox failed, 126 not executable, 127 not found, 128+n killed by signal n.",
  )
  .passThroughOptions()
  .action(async (command, options) => (await import("./exec.js")).exec(command, options));

program
  .command("tools")
  .description("list the tools: names, descriptions, JSON Schemas")
  .option("--json", "print them as one JSON array")
  .action(async (options) => (await import("./tools.js")).tools(options));

program
  .command("doctor")
  .description("say what this machine and, with --target, a live target can do: capabilities, known holes, the contract tried out")
  .option("-t, --target <url>", TARGET_HELP)
  .option("--json", "print the findings as one JSON object")
  .action(async (options) => (await import("./doctor.js")).doctor(options));

for (const command of program.commands) command.exitOverride();

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
  else process.exitCode = reportFailure(error);
}
