import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type SSHConfig from "ssh-config";
import { GloveboxError } from "../../src/contract/errors.js";
import type { ConfigValues, HostRequest } from "./settings.js";

/** What would look up names in the DNS while the file is read. */
const CANONICAL = /^Canonical/i;
const DEFAULT_KEYS = ["~/.ssh/id_ed25519", "~/.ssh/id_ecdsa", "~/.ssh/id_rsa"];

/**
 * The settings of a host as the configuration files have them, for a machine without an ssh that could be asked. Read as
 * `ssh -G` prints them, with these gaps: Include is not followed, `Match exec` and `Match canonical` never match, and host
 * names are not canonicalised. Rejects `invalid_argument` for a file that cannot be read.
 */
export async function readConfigFile({ host, user, configFile }: HostRequest): Promise<ConfigValues> {
  const { default: Config } = await import("ssh-config");
  const files = configFile === undefined ? [join(homedir(), ".ssh/config"), "/etc/ssh/ssh_config"] : [configFile];
  const config = new Config();
  for (const file of files) {
    // Each is read by itself: what stands before the first Host of the second one belongs to no Host of the first.
    const text = await readText(file, file === configFile);
    try {
      config.push(...withoutLookups(Config.parse(text)));
    } catch (error) {
      throw refuse(file, (error as Error).message, error);
    }
  }
  const computed: Readonly<Record<string, string | readonly string[]>> = config.compute(
    { Host: host, ...(user !== undefined && { User: user }) },
    { ignoreCase: true, matchExec: false },
  );
  const values = new Map<string, readonly string[]>([["identityfile", DEFAULT_KEYS]]);
  for (const [name, value] of Object.entries(computed)) {
    values.set(name, typeof value === "string" ? [value] : name === "identityfile" ? value : [value.join(" ")]);
  }
  const hostName = values.get("hostname")?.[0];
  if (hostName !== undefined) values.set("hostname", [hostName.replaceAll(/%([h%])/g, (_all, token) => (token === "h" ? host : "%"))]);
  return values;
}

async function readText(file: string, required: boolean): Promise<string> {
  if (file === "none") return "";
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" && !required) return "";
    throw refuse(file, `it cannot be read (${code})`, error);
  }
}

function withoutLookups(config: SSHConfig): SSHConfig {
  for (const section of config) {
    if ("config" in section) section.config = withoutLookups(section.config);
  }
  return config.filter((line) => !("param" in line && CANONICAL.test(line.param))) as SSHConfig;
}

function refuse(file: string, why: string, cause: unknown): GloveboxError {
  const message = `The ssh configuration ${file} cannot be used: ${why}. Correct the file, or name another one with config=FILE.`;
  return new GloveboxError("invalid_argument", message, { cause });
}
