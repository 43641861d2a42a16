import { join } from "node:path";
import { installOnDemand, nodeAtLeast, orSkip } from "../../support/on-demand.js";

/** The judges that are not ours. They need a newer Node than the oldest one that is supported, on which our tests run. */
const PACKAGES = ["@modelcontextprotocol/conformance@0.2.0-alpha.12", "@modelcontextprotocol/inspector@2.12.0"];

export interface Judges {
  readonly node: string;
  readonly conformance: string;
  readonly inspector: string;
}

/** Where the judges are; outside CI, the test that asks is skipped with the reason when they are not to be had. */
export async function findJudges(skip: (reason: string) => void): Promise<Judges> {
  return await orSkip(skip, async () => {
    const node = await nodeAtLeast(24);
    const modules = join(await installOnDemand("judges", PACKAGES), "node_modules/@modelcontextprotocol");
    return {
      node,
      conformance: join(modules, "conformance/dist/index.js"),
      inspector: join(modules, "inspector/clients/launcher/build/index.js"),
    };
  });
}
