import { ssh } from "../../../adapters/ssh/index.js";
import { openEnvironment } from "../../../src/environment.js";

/*
 * Runs commands that leave all kinds of children, until it is killed: OPTIONS (JSON) COMMANDS TAG. Says `ready` when all run.
 */
const [options = "{}", commands = "1", tag = ""] = process.argv.slice(2);
const environment = await openEnvironment(ssh(JSON.parse(options)));
let ready = 0;
const command =
  "(setsid sleep 600 & nohup sleep 601 >/dev/null 2>&1 & (sleep 602 &) & ); trap '' TERM HUP; echo ready; while :; do sleep 1; done";
await Promise.all(
  Array.from({ length: Number(commands) }, () =>
    environment.exec(command, {
      env: { FAULT_TAG: tag },
      onOutput() {
        ready += 1;
        if (ready === Number(commands)) process.stdout.write("ready\n");
      },
    }),
  ),
);
