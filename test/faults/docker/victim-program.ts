import { docker } from "../../../adapters/docker/index.js";
import { openEnvironment } from "../../../src/environment.js";

/*
 * Runs a command with children that would like to outlive it in the container NAME, and waits to be killed.
 */
const environment = await openEnvironment(docker({ container: process.argv[2] ?? "" }));
await environment.exec("setsid sleep 778 & (sleep 778 &) ; echo started; exec sleep 778", {
  onOutput: () => {
    process.stdout.write("started\n");
  },
});
