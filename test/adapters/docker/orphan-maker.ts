/*
 * A process that makes sandboxes and is killed: what a crash leaves. Arguments: labels as JSON, a network, how many. Says the
 * containers' ids and names, as JSON, once a command runs in each.
 */
import { docker } from "../../../adapters/docker/index.js";
import { openEnvironment } from "../../../src/environment.js";

const [, , labels = "{}", network = "none", count = "1"] = process.argv;

async function make(): Promise<{ readonly id: string; readonly name: unknown }> {
  const environment = await openEnvironment(
    docker({ image: "glovebox/busybox", labels: JSON.parse(labels) as Record<string, string>, network }),
  );
  await new Promise<void>((resolve) => {
    void environment.exec("echo started; sleep 600", { onOutput: () => resolve() });
  });
  const { facts } = await environment.describe();
  return { id: environment.containerId, name: facts.container };
}

const made = [];
for (let index = 0; index < Number(count); index += 1) made.push(await make());
process.stdout.write(`${JSON.stringify(made)}\n`);
