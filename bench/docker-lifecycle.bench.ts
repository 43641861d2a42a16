import Docker from "dockerode";
import { docker } from "../adapters/docker/index.js";
import { openEnvironment } from "../src/environment.js";
import { ms, ratio, spread, timed } from "./measure.js";
import type { Table } from "./table.js";

export const name = "docker-lifecycle";

const CONTAINERS = 30;

/** From nothing to the first command's answer in a fresh hardened container, beside the engine's own create and start. */
export async function run(): Promise<Table> {
  const engine = new Docker();
  const ours: number[] = [];
  const bare: number[] = [];
  let image = "glovebox/sandbox";
  for (let index = 0; index < CONTAINERS; index += 1) {
    let environment: Awaited<ReturnType<typeof open>> | undefined;
    ours.push(
      await timed(async () => {
        environment = await open();
        await environment.exec("true");
      }),
    );
    if (environment !== undefined) {
      image = (await engine.getContainer(environment.containerId).inspect()).Image;
      await environment.close();
    }
    let container: Docker.Container | undefined;
    bare.push(
      await timed(async () => {
        container = await engine.createContainer({ Image: image, HostConfig: { NetworkMode: "none", Init: true } });
        await container.start();
      }),
    );
    await container?.remove({ force: true });
  }
  const [own, floor] = [spread(ours), spread(bare)];
  return {
    title: `Docker, ${CONTAINERS} fresh containers, ms`,
    columns: ["what", "p50", "p95", "ours / bare"],
    rows: [
      ["create hardened, start, connect, first command answered", ms(own.p50), ms(own.p95), ratio(own.p50, floor.p50)],
      ["the engine's bare create and start", ms(floor.p50), ms(floor.p95), ""],
    ],
  };
}

function open() {
  return openEnvironment(docker({}));
}
