import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { GloveboxError } from "../contract/errors.js";

export interface FleetUser {
  readonly key: string;
  /** Whose user it is; the same key of two tenants is two users. Default "". */
  readonly tenant: string;
}

/** What labels of a sandbox or a volume say: nothing that ever changes. */
export interface SandboxFacts {
  /** Digest of what it was made to be; of a snapshot, its own name. */
  readonly spec: string;
  /** ISO 8601, by the clock of whoever made it. For people: nothing is decided by it. */
  readonly created: string;
  /** The volume that holds its workspace, or itself; "" without one. */
  readonly volume: string;
}

/** What a name says. "keyed": somebody's; "spare": nobody's yet; "replaced": the older one of two; "doomed": being removed; "snapshot": a volume that names another. */
export type NameKind = "keyed" | "spare" | "replaced" | "doomed" | "snapshot" | "foreign";

export interface FleetNames {
  /** Of the user's sandbox, and of the lock that goes with it. The key cannot be told from it without the secret. */
  keyed(user: FleetUser): string;
  spare(): string;
  doomed(): string;
  volume(): string;
  kindOf(name: string): NameKind;
  /** Whether this very fleet object gave the name of a spare or a volume. */
  isOwn(name: string): boolean;
  /** The name's part that all users of one tenant share. */
  tenantOf(name: string): string;
  tenantHash(tenant: string): string;
  /** The name of a sandbox while a newer one takes its place; and back. */
  replacedOf(keyed: string): string;
  keyedOf(replaced: string): string;
  /** A new name for a snapshot of that sandbox; and back. */
  snapshotOf(keyed: string): string;
  sandboxOfSnapshot(name: string): string;
  /** Labels with the fleet's seal. */
  seal(facts: SandboxFacts): Readonly<Record<string, string>>;
  /** What sealed labels say; undefined unless they bear this fleet's seal. */
  unseal(labels: Readonly<Record<string, string>> | undefined): SandboxFacts | undefined;
  /** Labels that all of this fleet's objects bear: to search by, never to trust. */
  readonly search: Readonly<Record<string, string>>;
}

const LABEL = {
  id: "glovebox.fleet.id",
  spec: "glovebox.fleet.spec",
  created: "glovebox.fleet.created",
  volume: "glovebox.fleet.volume",
  seal: "glovebox.fleet.seal",
} as const;

export const SEAL_LABEL = LABEL.seal;

const ID = /^[a-z0-9]{1,20}$/;
const MIN_SECRET = 16;

/** Throws `invalid_argument` for an id or a secret that will not do. */
export function fleetNames(id: string, secret: string): FleetNames {
  if (!ID.test(id)) throw refuse(`The fleet's id ${JSON.stringify(id.slice(0, 40))} must be 1 to 20 small letters and digits.`);
  if (typeof secret !== "string" || secret.length < MIN_SECRET) {
    throw refuse(
      `The fleet's secret must have at least ${MIN_SECRET} characters: openssl rand -hex 32 makes a good one. Keep it for as long as the fleet.`,
    );
  }
  const instance = randomBytes(6).toString("hex");
  const prefix = `gbf-${id}-`;
  const shapes: readonly (readonly [NameKind, RegExp])[] = [
    ["keyed", new RegExp(`^${prefix}k-[0-9a-f]{12}-[0-9a-f]{32}$`)],
    ["spare", new RegExp(`^${prefix}w-[0-9a-f]{12}-[0-9a-f]{20}$`)],
    ["replaced", new RegExp(`^${prefix}r-[0-9a-f]{12}-[0-9a-f]{32}$`)],
    ["doomed", new RegExp(`^${prefix}x-[0-9a-f]{32}$`)],
    ["snapshot", new RegExp(`^${prefix}s-[0-9a-f]{12}-[0-9a-f]{32}-[0-9a-f]{16}$`)],
  ];
  const digest = (...parts: readonly string[]): string =>
    createHmac("sha256", secret)
      .update(JSON.stringify([id, ...parts]))
      .digest("hex");
  const tenantHash = (tenant: string): string => digest("tenant", tenant).slice(0, 12);
  const sealOf = ({ spec, created, volume }: SandboxFacts): string => digest("seal", spec, created, volume);
  return {
    keyed: ({ key, tenant }) => `${prefix}k-${tenantHash(tenant)}-${digest("key", tenant, key).slice(0, 32)}`,
    spare: () => `${prefix}w-${instance}-${randomBytes(10).toString("hex")}`,
    doomed: () => `${prefix}x-${randomBytes(16).toString("hex")}`,
    volume: () => `${prefix}v-${instance}-${randomBytes(10).toString("hex")}`,
    kindOf: (name) => shapes.find(([, shape]) => shape.test(name))?.[0] ?? "foreign",
    isOwn: (name) => name.startsWith(`${prefix}w-${instance}-`) || name.startsWith(`${prefix}v-${instance}-`),
    tenantOf: (name) => name.slice(prefix.length + 2, prefix.length + 14),
    tenantHash,
    replacedOf: (keyed) => `${prefix}r-${keyed.slice(prefix.length + 2)}`,
    snapshotOf: (keyed) => `${prefix}s-${keyed.slice(prefix.length + 2)}-${randomBytes(8).toString("hex")}`,
    sandboxOfSnapshot: (name) => `${prefix}k-${name.slice(prefix.length + 2, -17)}`,
    keyedOf: (replaced) => `${prefix}k-${replaced.slice(prefix.length + 2)}`,
    seal: (facts) => ({
      [LABEL.id]: id,
      [LABEL.spec]: facts.spec,
      [LABEL.created]: facts.created,
      [LABEL.volume]: facts.volume,
      [LABEL.seal]: sealOf(facts),
    }),
    unseal(labels = {}) {
      const { [LABEL.spec]: spec = "", [LABEL.created]: created = "", [LABEL.volume]: volume = "", [LABEL.seal]: seal = "" } = labels;
      const facts = { spec, created, volume };
      const expected = Buffer.from(sealOf(facts));
      const found = Buffer.from(seal);
      const isGenuine = labels[LABEL.id] === id && found.length === expected.length && timingSafeEqual(found, expected);
      return isGenuine ? facts : undefined;
    },
    search: { [LABEL.id]: id },
  };
}

function refuse(message: string): GloveboxError {
  return new GloveboxError("invalid_argument", message);
}
