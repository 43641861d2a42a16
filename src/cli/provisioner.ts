import { resolveProvisioner } from "../../adapters/index.js";
import { engines, type FleetProvisioner } from "../fleet/index.js";
import { UsageError } from "./output.js";

/**
 * Sandboxes at the engine of DOCKER_HOST, at one that `--host URL` names, or at several: `--host a=URL --host b=URL`. An
 * engine's name is noted at the others, so it must stay; without one the URL is its name. Close it.
 */
export async function provisionerOf(hosts: readonly string[] = [], sandbox?: string): Promise<FleetProvisioner> {
  const named = hosts.map((text) => {
    const [, name = text, url = text] = /^([A-Za-z0-9][A-Za-z0-9._-]*)=(.+)$/s.exec(text) ?? [];
    return { name, url };
  });
  const twice = named.find(({ name }, index) => named.findIndex((other) => other.name === name) !== index);
  if (twice !== undefined) throw new UsageError(`two engines are named ${twice.name}: a name, or a URL, stands for one`);
  const [first] = named;
  if (first === undefined || (named.length === 1 && first.name === first.url)) return await resolveProvisioner(first?.url, sandbox);
  return engines(await Promise.all(named.map(async ({ name, url }) => ({ name, provisioner: await resolveProvisioner(url, sandbox) }))));
}
