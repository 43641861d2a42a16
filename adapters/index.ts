import { parseTargetUrl } from "../src/contract/address.js";
import { GloveboxError } from "../src/contract/errors.js";
import type { Adapter, EngineProvisioner, Target, TargetAddress } from "../src/contract/target.js";

/** Each adapter is loaded when the first URL of its scheme asks for it: their SDKs are heavy. */
const ADAPTERS = new Map<string, () => Promise<{ readonly adapter: Adapter }>>([
  ["local", () => import("./local/index.js")],
  ["memory", () => import("./memory/index.js")],
  ["docker", () => import("./docker/index.js")],
  ["ssh", () => import("./ssh/index.js")],
]);

/** The target that a URL names. Nothing is connected to. Rejects `invalid_argument`. */
export async function resolveTarget(url: string): Promise<Target> {
  const address = parseTargetUrl(url);
  const { adapter } = await load(address);
  return adapter(address);
}

/**
 * What makes and keeps sandboxes at a Docker engine: that of `host`, else of DOCKER_HOST, else the default one. `sandbox`
 * says what they are, as a URL of a new container. Close it. Rejects `invalid_argument`.
 */
export async function resolveProvisioner(host?: string, sandbox = "docker:"): Promise<EngineProvisioner> {
  const address = parseTargetUrl(sandbox);
  if (address.scheme !== "docker") {
    throw new GloveboxError(
      "invalid_argument",
      `Sandboxes of a fleet are containers: docker:?image=IMAGE, not ${JSON.stringify(sandbox)}.`,
    );
  }
  const { dockerProvisioner, readSandboxAddress } = await import("./docker/index.js");
  const sandboxes = readSandboxAddress(address);
  if (host?.startsWith("ssh://")) {
    const { dockerProvisionerOverSsh, readEngineHost } = await import("./nested.js");
    return dockerProvisionerOverSsh(sandboxes, readEngineHost(host));
  }
  return dockerProvisioner({ ...sandboxes, ...(host === undefined ? {} : { host }) });
}

async function load({ scheme, options }: TargetAddress): Promise<{ readonly adapter: Adapter }> {
  // A container behind an SSH host takes two adapters, which do not know each other.
  if (scheme === "docker" && options.get("host")?.startsWith("ssh://")) return await import("./nested.js");
  const found = ADAPTERS.get(scheme);
  if (found !== undefined) return await found();
  const known = [...ADAPTERS.keys()].map((name) => `${name}:`).join(", ");
  throw new GloveboxError("invalid_argument", `There is no adapter for ${JSON.stringify(`${scheme}:`)}. The schemes are ${known}.`, {
    retrySafe: true,
    details: { scheme, known: [...ADAPTERS.keys()] },
  });
}
