import { abortError, GloveboxError } from "../contract/errors.js";

export interface LineLimits {
  /** Places that may be held at once. */
  readonly places: number;
  readonly placesPerTenant: number;
  /** How many may wait. */
  readonly waiting: number;
  readonly waitingPerTenant: number;
}

export interface Line {
  /**
   * Resolves to the function that gives the place back. Rejects `busy` when too many wait, and what `signal` says when it
   * fires first.
   */
  enter(tenant: string, signal?: AbortSignal): Promise<() => void>;
  readonly held: number;
  readonly waiting: number;
  heldBy(tenant: string): number;
  /** Rejects all who wait. */
  refuseAll(error: GloveboxError): void;
}

interface Ticket {
  admit(): void;
  refuse(error: GloveboxError): void;
}

interface Tenant {
  held: number;
  /** When it was served last, as a count. */
  servedAt: number;
  readonly tickets: Set<Ticket>;
}

/**
 * Places for which many wait. A place that falls free goes to the tenant who holds the fewest, among equals to the one who
 * was served longest ago, and within a tenant to who came first: so a thousand of one tenant's stand behind another's first.
 */
export function createLine(limits: LineLimits, what: string): Line {
  const tenants = new Map<string, Tenant>();
  let held = 0;
  let waiting = 0;
  let served = 0;

  function next(): Tenant | undefined {
    let best: Tenant | undefined;
    for (const tenant of tenants.values()) {
      if (tenant.tickets.size === 0 || tenant.held >= limits.placesPerTenant) continue;
      const isBefore = best === undefined || tenant.held < best.held || (tenant.held === best.held && tenant.servedAt < best.servedAt);
      if (isBefore) best = tenant;
    }
    return best;
  }

  function serve(): void {
    while (held < limits.places) {
      const tenant = next();
      const [ticket] = tenant?.tickets ?? [];
      if (tenant === undefined || ticket === undefined) return;
      tenant.tickets.delete(ticket);
      waiting -= 1;
      held += 1;
      tenant.held += 1;
      served += 1;
      tenant.servedAt = served;
      ticket.admit();
    }
  }

  function tenantOf(name: string): Tenant {
    const tenant = tenants.get(name) ?? { held: 0, servedAt: 0, tickets: new Set<Ticket>() };
    tenants.set(name, tenant);
    return tenant;
  }

  function forgetIdle(name: string, { held: own, tickets }: Tenant): void {
    if (own === 0 && tickets.size === 0) tenants.delete(name);
  }

  function leaveOnce(name: string, tenant: Tenant): () => void {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      held -= 1;
      tenant.held -= 1;
      forgetIdle(name, tenant);
      serve();
    };
  }

  return {
    async enter(name, signal) {
      if (signal?.aborted) throw abortError(signal, { retrySafe: true });
      const tenant = tenantOf(name);
      const full = waiting >= limits.waiting ? "waiting" : tenant.tickets.size >= limits.waitingPerTenant ? "waitingPerTenant" : undefined;
      if (full !== undefined) {
        forgetIdle(name, tenant);
        const who = full === "waiting" ? `${waiting}` : `${tenant.tickets.size} of this tenant`;
        const message = `The fleet is full: ${who} wait for ${what} already (caps.${full}). Try again later, or raise the cap.`;
        throw new GloveboxError("busy", message, { retrySafe: true, details: { cap: full, waiting } });
      }
      return await new Promise((resolve, reject) => {
        const onAbort = (): void => {
          if (signal !== undefined) ticket.refuse(abortError(signal, { retrySafe: true }));
        };
        const ticket: Ticket = {
          admit() {
            signal?.removeEventListener("abort", onAbort);
            resolve(leaveOnce(name, tenant));
          },
          refuse(error) {
            if (!tenant.tickets.delete(ticket)) return;
            signal?.removeEventListener("abort", onAbort);
            waiting -= 1;
            forgetIdle(name, tenant);
            reject(error);
          },
        };
        signal?.addEventListener("abort", onAbort, { once: true });
        tenant.tickets.add(ticket);
        waiting += 1;
        serve();
      });
    },
    get held() {
      return held;
    },
    get waiting() {
      return waiting;
    },
    heldBy: (name) => tenants.get(name)?.held ?? 0,
    refuseAll(error) {
      for (const { tickets } of [...tenants.values()]) for (const ticket of [...tickets]) ticket.refuse(error);
    },
  };
}
