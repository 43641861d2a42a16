import type { Adapter, TargetAddress } from "../../src/contract/target.js";
import { docker } from "./docker.js";
import { refuse } from "./names.js";
import type { AttachOptions, DockerOptions, SandboxOptions } from "./options.js";

type Written = { -readonly [Key in keyof SandboxOptions]: SandboxOptions[Key] } & {
  -readonly [Key in keyof AttachOptions]?: AttachOptions[Key];
} & {
  host?: string;
  certificates?: string;
  allowUnencryptedEngine?: boolean;
};
type Read = (written: Written, value: string, name: string) => void;

const ENGINE: Readonly<Record<string, Read>> = {
  host: (written, value) => {
    written.host = value;
  },
  certificates: (written, value) => {
    written.certificates = value;
  },
  allowUnencryptedEngine: (written, value, name) => {
    written.allowUnencryptedEngine = flag(value, name);
  },
  user: (written, value) => {
    written.user = value;
  },
};

const ATTACH: Readonly<Record<string, Read>> = {
  ...ENGINE,
  allowUnsafeContainer: (written, value) => {
    written.allowUnsafeContainer = value.split(",");
  },
};

const CREATE: Readonly<Record<string, Read>> = {
  ...ENGINE,
  image: (written, value) => {
    written.image = value;
  },
  name: (written, value) => {
    written.name = value;
  },
  workspace: (written, value) => {
    written.workspace = value === "ephemeral" ? value : { volume: value };
  },
  workspaceSize: (written, value, name) => {
    written.workspaceBytes = bytes(value, name);
  },
  memory: (written, value, name) => {
    written.memoryBytes = bytes(value, name);
  },
  cpus: (written, value, name) => {
    written.cpus = number(value, name);
  },
  pids: (written, value, name) => {
    written.pids = number(value, name);
  },
  network: (written, value) => {
    written.network = value;
  },
  runtime: (written, value) => {
    written.runtime = value;
  },
  addCapabilities: (written, value) => {
    written.addCapabilities = value.split(",");
  },
  writableRootfs: (written, value, name) => {
    written.writableRootfs = flag(value, name);
  },
  allowRoot: (written, value, name) => {
    written.allowRoot = flag(value, name);
  },
  allowNeighbours: (written, value, name) => {
    written.allowNeighbours = flag(value, name);
  },
};

/**
 * `docker://CONTAINER/path` attaches; `docker:///path?image=IMAGE` and `docker:` make a container that closing removes.
 * Options of the typed object that are lists of things (env, labels, binds, tmpfs) have no place in a URL.
 */
export const adapter: Adapter = (address) => docker(readAddress(address));

/** The options that a URL stands for. Throws `invalid_argument` for those it does not know. */
export function readAddress({ authority, path, options, text }: TargetAddress): DockerOptions {
  if (path !== "" && !path.startsWith("/"))
    throw refuse(`${JSON.stringify(text)} names no container. Write docker://CONTAINER/path, docker:///path?image=IMAGE or docker:`);
  const attaching = authority !== "";
  const known = attaching ? ATTACH : CREATE;
  const written: Written = attaching ? { container: authority } : {};
  if (path !== "" && path !== "/") written[attaching ? "cwd" : "workdir"] = path;
  else if (path === "/" && attaching) written.cwd = path;
  for (const [name, value] of options) {
    const read = Object.hasOwn(known, name) ? known[name] : undefined;
    if (read === undefined) {
      const where = attaching ? "a container that is there already" : "a new container";
      throw refuse(
        `Unknown option ${JSON.stringify(name)} in ${JSON.stringify(text)}: for ${where} there are ${Object.keys(known).join(", ")}`,
      );
    }
    read(written, value, name);
  }
  return written as DockerOptions;
}

/**
 * What all of a fleet's sandboxes are to be, from the URL of a new container. Throws `invalid_argument` for what cannot be
 * said of many: a container that is there, a name, a workspace; and for an engine, which is chosen beside it.
 */
export function readSandboxAddress(address: TargetAddress): SandboxOptions {
  if (address.authority !== "")
    throw refuse(`${JSON.stringify(address.text)} names one container. Write docker:///path?image=IMAGE or docker:`);
  const unfit = ["name", "workspace", ...Object.keys(ENGINE).filter((name) => name !== "user")].find((name) => address.options.has(name));
  if (unfit !== undefined)
    throw refuse(`The option ${unfit} in ${JSON.stringify(address.text)} cannot be said of all sandboxes alike. Leave it out`);
  return readAddress(address) as SandboxOptions;
}

function flag(value: string, name: string): boolean {
  if (value === "true" || value === "false") return value === "true";
  throw refuse(`The option ${name} must be true or false, not ${JSON.stringify(value)}`);
}

function number(value: string, name: string): number {
  if (/^\d{1,9}(?:\.\d{1,6})?$/.test(value)) return Number(value);
  throw refuse(`The option ${name} must be a number, not ${JSON.stringify(value)}`);
}

function bytes(value: string, name: string): number {
  const [, digits, unit = ""] = /^(\d{1,12})([kmg]?)$/i.exec(value) ?? [];
  if (digits === undefined) throw refuse(`The option ${name} must be a size such as 512m or 2g, not ${JSON.stringify(value)}`);
  return Number(digits) * 1024 ** ["", "k", "m", "g"].indexOf(unit.toLowerCase());
}
