import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { engineClient } from "../../support/sweep.js";

export const FLEET_SECRET = "a secret for fault tests";

export interface WorkerOrders {
  readonly fleet: string;
  readonly keys: number;
  readonly clients: number;
  readonly acquires: number;
  readonly warm: number;
  readonly active: number;
  /** The share of turns that destroy instead of using. */
  readonly destroyShare: number;
  readonly removeAfterMs: number;
  readonly host?: string;
}

/** What a worker tells of a turn. */
export interface Told {
  readonly did: "began" | "leased" | "used" | "destroyed" | "failed" | "ended";
  readonly key: string;
  readonly containerId: string;
  readonly owner: string;
  readonly code: string;
  readonly message: string;
  readonly ms: number;
}

export interface FleetWorker {
  readonly child: ChildProcess;
  readonly told: Told[];
  go(): void;
  /** Resolves when it works, or has ended. */
  readonly began: Promise<unknown>;
  /** SIGKILL; resolves when it is dead and buried. */
  kill(): Promise<void>;
  readonly ended: Promise<unknown>;
}

/** Another process of the fleet, which loads and waits for go(). */
export function startFleetWorker(orders: WorkerOrders): FleetWorker {
  const program = fileURLToPath(new URL("fleet.worker.ts", import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", program, JSON.stringify(orders)], { stdio: ["pipe", "pipe", "inherit"] });
  const told: Told[] = [];
  const ended = once(child, "exit");
  const began = new Promise<void>((resolve) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      told.push(JSON.parse(line) as Told);
      resolve();
    });
    child.once("exit", () => resolve());
  });
  return {
    child,
    told,
    go: () => void child.stdin.write("go\n"),
    began,
    ended,
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** Removes every container and volume of that fleet, by the engine's own API. */
export async function wipeFleet(fleet: string, docker = engineClient()): Promise<void> {
  const filters = { label: [`glovebox.fleet.id=${fleet}`] };
  for (const { Id } of await docker.listContainers({ all: true, filters })) {
    await docker
      .getContainer(Id)
      .remove({ force: true, v: true })
      .catch(() => undefined);
  }
  for (const { Name } of (await docker.listVolumes({ filters })).Volumes ?? []) {
    await docker
      .getVolume(Name)
      .remove()
      .catch(() => undefined);
  }
}
