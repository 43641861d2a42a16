import type { ContainerInspectInfo } from "dockerode";
import { GloveboxError } from "../../src/contract/errors.js";

export interface Finding {
  /** An item of the hardening list: `D13`. */
  readonly id: string;
  readonly what: string;
  /** Attaching is refused unless the item is named in `allowUnsafeContainer`: from such a container the host is one step away. */
  readonly refused: boolean;
}

/** The items that can be refused, and so allowed. */
export const REFUSED_ITEMS = ["D01", "D12", "D13", "D14"] as const;

/** Where engines and container runtimes listen, and directories that hold those places. */
const ENGINE_PLACES = /^\/(?:(?:var\/)?run(?:\/(?:docker|containerd|podman|crio)(?:\/.*)?)?|var|run\/user\/\d+|)$/;
const ENGINE_SOCKET = /(?:docker|containerd|podman|crio|buildkitd)[^/]*\.sock$/;
const HOST_PLACES = /^\/(?:etc|proc|sys|dev|root|boot|usr|lib|home|var\/lib\/(?:docker|containerd))(?:\/|$)/;

/**
 * What a container's configuration gives away, by the ids of docs/docker.md. `enginePath`: where this engine's own socket is.
 */
export function auditContainer(container: ContainerInspectInfo, enginePath?: string): readonly Finding[] {
  const { HostConfig: host, Config: config, Mounts: mounts = [] } = container;
  const findings: Finding[] = [];
  const refuse = (id: string, when: boolean, what: string): void => {
    if (when) findings.push({ id, what, refused: true });
  };
  const warn = (id: string, when: boolean, what: string): void => {
    if (when) findings.push({ id, what, refused: false });
  };
  const security = (host.SecurityOpt ?? []) as readonly string[];
  const namespaces = { network: host.NetworkMode, pid: host.PidMode, ipc: host.IpcMode, uts: host.UTSMode, user: host.UsernsMode };
  const shared = Object.entries(namespaces).filter(([, mode]) => mode === "host");

  refuse("D01", host.Privileged === true, "it is privileged, which makes its root the host's root");
  refuse("D12", shared.length > 0, `it shares the host's ${shared.map(([name]) => name).join(", ")} namespace`);
  for (const { Source: source = "", Destination: target = "", RW: writable } of mounts) {
    const engine = ENGINE_SOCKET.test(source) || ENGINE_SOCKET.test(target) || ENGINE_PLACES.test(source) || isAbove(source, enginePath);
    refuse("D13", engine, `it holds ${source} of the host, and with it a container engine's socket`);
    warn("D13", !engine && HOST_PLACES.test(source) && !isVolume(source), `it holds ${source} of the host${writable ? ", writable" : ""}`);
  }
  const devices =
    ((host.Devices ?? []) as readonly unknown[]).length + (host.DeviceCgroupRules ?? []).length + (host.DeviceRequests ?? []).length;
  refuse("D14", devices > 0, "it holds devices of the host");

  const dropsAll = ((host.CapDrop ?? []) as readonly string[]).some((name) => /^(?:CAP_)?ALL$/i.test(name));
  const added = (host.CapAdd ?? []) as readonly string[];
  warn("D02", !dropsAll || added.length > 0, `it keeps capabilities${added.length > 0 ? `, ${added.join(", ")} added` : ""}`);
  warn("D03", !security.some((option) => /^no-new-privileges(?:[:=]true)?$/.test(option)), "setuid programs gain privileges in it");
  warn(
    "D04",
    security.some((option) => /^seccomp[:=]unconfined/.test(option)),
    "it runs without a seccomp filter",
  );
  warn("D05", /^(?:|0|root)(?::|$)/.test(config.User), "its user is root");
  warn("D06", host.ReadonlyRootfs !== true, "its system is writable");
  warn("D07", !(Number(host.PidsLimit) > 0), "nothing limits its processes");
  warn("D08", !(Number(host.Memory) > 0), "nothing limits its memory");
  warn("D10", !(Number(host.NanoCpus) > 0 || Number(host.CpuQuota) > 0), "nothing limits its share of the processors");
  warn("D11", host.NetworkMode !== "none" && !shared.some(([name]) => name === "network"), `it is on the network ${host.NetworkMode}`);
  warn("D15", (host.MaskedPaths ?? []).length === 0 && host.Privileged !== true, "the kernel's files in /proc are not masked");
  warn("D16", host.Init !== true, "its main process may not reap orphans, which then count against its limit");
  warn(
    "D28",
    (config.Env ?? []).some((each) => /secret|token|passw|api_?key|private/i.test(each)),
    "its environment holds what looks like a secret",
  );
  return findings;
}

/** Rejects `permission_denied`, naming each refused item that is not allowed. */
export function refuseUnsafe(findings: readonly Finding[], allowed: readonly string[], name: string): void {
  for (const item of allowed) {
    if (!(REFUSED_ITEMS as readonly string[]).includes(item)) {
      const message = `allowUnsafeContainer cannot hold ${JSON.stringify(item)}. The items that are refused, and so can be allowed, are ${REFUSED_ITEMS.join(", ")}.`;
      throw new GloveboxError("invalid_argument", message);
    }
  }
  const refused = findings.filter(({ id, refused: unsafe }) => unsafe && !allowed.includes(id));
  if (refused.length === 0) return;
  const ids = [...new Set(refused.map(({ id }) => id))];
  const reasons = refused.map(({ id, what }) => `${what} (${id})`).join("; ");
  const message = `The container ${name} is refused, because what runs in it can take over the host: ${reasons}. Use another container, or accept it with allowUnsafeContainer: ${JSON.stringify(ids)}.`;
  throw new GloveboxError("permission_denied", message, { retrySafe: true, details: { items: ids } });
}

function isVolume(source: string): boolean {
  return /^\/var\/lib\/docker\/volumes\/[^/]+\/_data$/.test(source) || /\/volumes\/[^/]+\/_data$/.test(source);
}

function isAbove(source: string, enginePath: string | undefined): boolean {
  return enginePath !== undefined && source !== "" && (enginePath === source || enginePath.startsWith(source === "/" ? "/" : `${source}/`));
}
