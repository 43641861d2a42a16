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
  .command("mcp")
  .description("serve the tools over MCP: to one client over standard input and output, or to many over HTTP")
  .option("-t, --target <url>", `NAME=URL, once for each target, or URL for the only one: ${TARGET_HELP}`, collect)
  .option("--http [host:port]", "listen there instead, for clients with a token; without a value on 127.0.0.1:7411")
  .option("--tools <names>", "offer only these: read,bash,edit,write,grep,find,ls")
  .option("--read-only", "offer only tools that change nothing, and refuse writes and commands below them too")
  .option(
    "--bash-timeout <default,maximum>",
    "seconds that commands may take; a client waits no longer than it has patience for (default 50,50)",
  )
  .option(
    "--policy <file>",
    "which calls are allowed, asked about, refused; default: glovebox/policy.json in the user's config directory, if it is there",
  )
  .option(
    "--token-file <file>",
    "whose tokens are good for which targets; default: $GLOVEBOX_TOKEN, or a token that is made up and printed",
  )
  .option("--allow-host <host:port>", "a Host header to accept beside this machine's own names", collect)
  .option("--allow-origin <origin>", "a web page's origin to accept", collect)
  .option("--no-structured", "text and images only: for clients that show their model the structured content instead")
  .option("--audit <file>", "append one JSON line for each verb, and for each act of a fleet, to this file")
  .option(
    "-f, --fleet <id>",
    "instead of --target: each user of the token file has a sandbox of his own. The secret is read from $GLOVEBOX_FLEET_SECRET",
  )
  .option("--image <image>", "with --fleet: what the sandboxes are made from; default glovebox/sandbox")
  .option("--sandbox <url>", "with --fleet: what they get, as a target URL: docker:?memory=512m&cpus=1&pids=256&network=isolated")
  .option("--warm <count>", "with --fleet: how many are kept ready for new users")
  .option("--caps <name=number,...>", "with --fleet: active, activePerTenant, total, totalPerTenant, waiting, waitingPerTenant, creating")
  .option(
    "--clocks <name=seconds,...>",
    "with --fleet: release (after a user's last call), then pause, stop, remove (with its files), lifetime; seconds or never",
  )
  .option(
    "-H, --host <url>",
    "with --fleet: the Docker engine, or NAME=URL for each of several; default $DOCKER_HOST, or this machine's",
    collect,
  )
  .addHelpText(
    "after",
    "\nEnvironment: GLOVEBOX_TARGET, GLOVEBOX_TOKEN, GLOVEBOX_FLEET_SECRET, and GLOVEBOX_METRICS_TOKEN: with it and --fleet, GET /metrics gives Prometheus' text to whoever bears it.",
  )
  .action(async (options) => (await import("./mcp.js")).mcp(options));

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

const FLEET_HELP = "the fleet's id; default $GLOVEBOX_FLEET. Its secret is read from $GLOVEBOX_FLEET_SECRET";
const ENGINE_HELP = "the Docker engine, or NAME=URL for each of several; default $DOCKER_HOST, or this machine's";

program
  .command("ps")
  .description("list a fleet's sandboxes: name, state, who owns them")
  .option("-f, --fleet <id>", FLEET_HELP)
  .option("-H, --host <url>", ENGINE_HELP, collect)
  .option("--json", "print one JSON line for each")
  .option("--watch", "draw the list anew every 2 seconds, until interrupted; not drawn but printed where it goes to a file or a pipe")
  .action(async (options) => (await import("./fleet.js")).ps(options));

program
  .command("stop")
  .description("stop users' sandboxes; their files stay, and the next acquire starts them again")
  .argument("<key...>", "the users' keys")
  .option("-f, --fleet <id>", FLEET_HELP)
  .option("-H, --host <url>", ENGINE_HELP, collect)
  .option("--tenant <name>", "whose users they are", "")
  .option("--audit <file>", "append one JSON line for each act to this file")
  .action(async (keys, options) => (await import("./fleet.js")).stop(keys, options));

program
  .command("rm")
  .description("remove users' sandboxes with their files")
  .argument("<key...>", "the users' keys")
  .option("-f, --fleet <id>", FLEET_HELP)
  .option("-H, --host <url>", ENGINE_HELP, collect)
  .option("--tenant <name>", "whose users they are", "")
  .option("--audit <file>", "append one JSON line for each act to this file")
  .action(async (keys, options) => (await import("./fleet.js")).rm(keys, options));

program
  .command("gc")
  .description("remove what dead processes of a fleet left half made or half removed")
  .option("-f, --fleet <id>", FLEET_HELP)
  .option("-H, --host <url>", ENGINE_HELP, collect)
  .option("--dry-run", "say what would be done, and why")
  .option("--audit <file>", "append one JSON line for each act to this file")
  .option("--json", "print one JSON line for each")
  .action(async (options) => (await import("./fleet.js")).gc(options));

program
  .command("fleet")
  .description("look at a fleet")
  .command("metrics")
  .description("print what there is at the engine as Prometheus' text, whoever owns it; changes nothing")
  .option("-f, --fleet <id>", FLEET_HELP)
  .option("-H, --host <url>", ENGINE_HELP, collect)
  .action(async (options) => (await import("./fleet.js")).metrics(options));

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

for (const command of program.commands) command.exitOverride();

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
  else process.exitCode = reportFailure(error);
}
