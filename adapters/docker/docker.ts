import { GloveboxError } from "../../src/contract/errors.js";
import type { Connection, ConnectOptions, Target } from "../../src/contract/target.js";
import { connectPosix } from "../posix/index.js";
import type { Transport } from "../posix/transport.js";
import { type Finding, refuseUnsafe } from "./audit.js";
import { auditAttached } from "./audit-attached.js";
import { findContainer, whyNotRunning } from "./containers.js";
import { describeContainer } from "./describe.js";
import { connectEngine, type Engine } from "./engine.js";
import { engineAddress } from "./engine-address.js";
import { checkContainer, checkContainerPath } from "./names.js";
import type { AttachOptions, DockerOptions, SandboxOptions } from "./options.js";
import { createSandbox, endedWithoutSleep, removeSandbox, withoutSleep } from "./sandbox.js";
import { sandboxSpec } from "./sandbox-spec.js";
import { sweepOnce } from "./sweep.js";
import { dockerTransport } from "./transport.js";

/** What a docker environment has beside the verbs. */
export interface DockerExtras {
  /** The full id. */
  readonly containerId: string;
}

/**
 * A container: one that is there (`container`), which closing leaves alone, or a new, hardened one, which closing removes.
 * Throws `invalid_argument` for options that cannot be. Connecting rejects `disconnected`, `permission_denied`,
 * `auth_failed`, `timeout` for the engine; `not_found`, `gone`, `busy`, `permission_denied` (the audit) for a container;
 * `not_found` (image), `exists` (name), `not_started`, `unsupported` (no sh) for a new one.
 */
export function docker(options: DockerOptions = {}): Target<DockerExtras> {
  return "container" in options && options.container !== undefined ? attachedTarget(options) : createdTarget(options as SandboxOptions);
}

/** A target that attaches. */
export function attachedTarget(options: DockerOptions & AttachOptions): Target<DockerExtras> {
  engineAddress(options);
  const name = checkContainer(options.container);
  const cwd = options.cwd === undefined ? undefined : checkContainerPath(options.cwd, "the working directory");
  const label = `docker://${name.length === 64 ? name.slice(0, 12) : name}${cwd ?? ""}`;
  return {
    kind: "docker",
    label,
    connect: (connecting) =>
      withEngine(options, async (engine) => {
        const container = await findContainer(engine, name, connecting);
        const findings = await auditAttached(engine, container);
        refuseUnsafe(findings, options.allowUnsafeContainer ?? [], name);
        const why = whyNotRunning(container);
        if (why !== undefined) throw why;
        const user = options.user ?? (container.Config.User === "" ? "0:0" : container.Config.User);
        return await open(engine, connecting, {
          containerId: container.Id,
          label,
          user,
          cwd: cwd ?? (container.Config.WorkingDir || "/"),
          durable: true,
          warnings: findings.map(warningOf),
          mustBeWritable: false,
          async release() {},
        });
      }),
  };
}

function createdTarget(options: SandboxOptions & DockerOptions): Target<DockerExtras> {
  const spec = sandboxSpec(options, engineAddress(options).local);
  const label = `docker://${spec.name ?? ""}${spec.workdir}?image=${spec.image}`;
  return {
    kind: "docker",
    label,
    connect: (connecting) =>
      withEngine(options, async (engine) => {
        const sweeping = sweepOnce(engine, label, connecting.onEvent);
        const sandbox = await createSandbox(engine, spec, { kind: "session", signal: connecting.signal });
        const release = async (): Promise<void> => {
          await removeSandbox(engine, sandbox);
          await sweeping;
        };
        try {
          return await open(engine, connecting, {
            containerId: sandbox.id,
            label,
            user: spec.user,
            cwd: spec.workdir,
            durable: spec.volume !== undefined,
            warnings: spec.warnings,
            mustBeWritable: sandbox.newVolume,
            release,
          });
        } catch (error) {
          const ended = error instanceof GloveboxError && error.code === "gone" && (await endedWithoutSleep(engine, sandbox.id));
          await release().catch(() => undefined);
          throw ended ? withoutSleep(spec.image, error) : error;
        }
      }),
  };
}

async function withEngine<Result>(options: DockerOptions, work: (engine: Engine) => Promise<Result>): Promise<Result> {
  const engine = connectEngine(options);
  try {
    return await work(engine);
  } catch (error) {
    engine.close();
    throw error;
  }
}

interface Opening {
  readonly containerId: string;
  readonly label: string;
  readonly user: string;
  readonly cwd: string;
  readonly durable: boolean;
  readonly warnings: readonly string[];
  /** The working directory is a volume just made, which belongs to root unless the image has such a directory of the user's. */
  readonly mustBeWritable: boolean;
  /** What closing does last, before the engine's connections go. */
  release(): Promise<void>;
}

async function open(engine: Engine, connecting: ConnectOptions, opening: Opening): Promise<Connection<DockerExtras>> {
  const { containerId, label, user, warnings } = opening;
  const transport = dockerTransport({ engine, containerId, label, user });
  let posix: Connection;
  try {
    posix = await connectPosix(transport, { cwd: opening.cwd, durable: opening.durable, countOutOfMemory: true, ...connecting });
    if (opening.mustBeWritable) await checkWritable(transport, opening.cwd, user);
  } catch (error) {
    await transport.close();
    throw withoutShell(error, label);
  }
  return {
    ...posix,
    extras: { containerId },
    async describe() {
      const [own, container] = await Promise.all([posix.describe(), describeContainer(engine, containerId, user)]);
      return {
        kind: "docker",
        label,
        isolation: container.isolation,
        warnings: [...warnings, ...container.warnings, ...own.warnings],
        facts: { ...own.facts, ...container.facts },
      };
    },
    async close() {
      try {
        await posix.close();
      } finally {
        await transport.close();
        await opening.release();
        engine.close();
      }
    },
  };
}

async function checkWritable(transport: Transport, directory: string, user: string): Promise<void> {
  const process = await transport.start(["sh", "-c", '[ -w "$1" ]', "sh", directory], { purpose: "control" });
  process.stdin.end();
  process.stdout.resume();
  process.stderr.resume();
  const outcome = await process.outcome;
  if (outcome.kind === "exited" && outcome.exitCode === 0) return;
  const advice = `Make ${directory} in the image, owned by ${user}, so that a new volume takes over its owner; or change the volume's owner once, as root.`;
  throw new GloveboxError(
    "permission_denied",
    `The new volume at ${directory} cannot be written by ${user}: it belongs to root. ${advice}`,
  );
}

/** Of the programs that can be missing, this one makes a container useless. */
function withoutShell(error: unknown, label: string): unknown {
  if (!(error instanceof GloveboxError) || error.code !== "not_started") return error;
  const message = `There is no sh in ${label}, or its user may not run it (${error.message}). Choose a container or an image that has one.`;
  return new GloveboxError("unsupported", message, { retrySafe: true, details: error.details, cause: error });
}

function warningOf({ id, what }: Finding): string {
  return `${id}: ${what}.`;
}
