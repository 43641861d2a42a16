import type { Finding, ListedSandbox } from "../fleet/index.js";
import type { Gauge } from "../fleet/metrics.js";

const STATES = ["running", "paused", "stopped"];
const VERDICTS: Readonly<Record<Finding["what"], readonly Finding["verdict"][]>> = {
  sandbox: ["keep", "adopt", "remove", "restore", "foreign"],
  volume: ["keep", "remove", "foreign"],
  lock: ["keep", "unlock"],
};

/** What one look at the engine tells, as gauges. A process's own counts are at its own `metrics()`, under other names. */
export function engineGauges(sandboxes: readonly ListedSandbox[], findings: readonly Finding[]): readonly Gauge[] {
  const owned = (owner: string): readonly ListedSandbox[] =>
    sandboxes.filter((sandbox) => (sandbox.owner === "nobody" ? "nobody" : "process") === owner);
  const states = [...new Set([...STATES, ...sandboxes.map(({ state }) => state)])];
  return [
    {
      name: "glovebox_fleet_engine_sandboxes",
      help: "Users' sandboxes at the engine, by state and by whether a live process owns them.",
      values: states.flatMap((state) =>
        ["process", "nobody"].map((owner) => ({
          labels: { state, owner },
          value: owned(owner).filter((sandbox) => sandbox.state === state).length,
        })),
      ),
    },
    {
      name: "glovebox_fleet_engine_findings",
      help: "Sandboxes, volumes and locks at the engine, by what the fleet's processes would do about them.",
      values: Object.entries(VERDICTS).flatMap(([what, verdicts]) =>
        verdicts.map((verdict) => ({
          labels: { what, verdict },
          value: findings.filter((finding) => finding.what === what && finding.verdict === verdict).length,
        })),
      ),
    },
  ];
}
