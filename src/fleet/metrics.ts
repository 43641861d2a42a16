import type { FleetAct } from "../contract/events.js";

export interface Gauge {
  readonly name: string;
  readonly help: string;
  readonly values: readonly { readonly labels?: Readonly<Record<string, string>>; readonly value: number }[];
}

export interface FleetMetrics {
  countAct(act: FleetAct): void;
  /** One acquire that ended: how, and after how long. */
  countAcquire(result: string, durationMs: number): void;
  /** Prometheus' text format 0.0.4. No user's key or name is in it. */
  text(gauges: readonly Gauge[]): string;
}

const BUCKETS_SECONDS = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

function sample(fleet: string, name: string, labels: Readonly<Record<string, string>>, value: number): string {
  const all = Object.entries({ fleet, ...labels }).map(
    ([label, text]) => `${label}="${text.replace(/[\\"\n]/g, (each) => (each === "\n" ? "\\n" : `\\${each}`))}"`,
  );
  return `${name}{${all.join(",")}} ${value}`;
}

function head(name: string, type: string, help: string): readonly string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

function gaugeLines(fleet: string, gauges: readonly Gauge[]): readonly string[] {
  return gauges.flatMap(({ name, help, values }) => [
    ...head(name, "gauge", help),
    ...values.map(({ labels = {}, value }) => sample(fleet, name, labels, value)),
  ]);
}

/** Gauges of a fleet in Prometheus' text format 0.0.4. */
export function prometheusText(fleet: string, gauges: readonly Gauge[]): string {
  return `${gaugeLines(fleet, gauges).join("\n")}\n`;
}

export function createMetrics(fleet: string): FleetMetrics {
  const acts = new Map<string, number>();
  const results = new Map<string, number>();
  const buckets = BUCKETS_SECONDS.map(() => 0);
  let sumSeconds = 0;
  let count = 0;

  const line = (name: string, labels: Readonly<Record<string, string>>, value: number): string => sample(fleet, name, labels, value);
  const add = (counts: Map<string, number>, name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);

  return {
    countAct: (act) => add(acts, act),
    countAcquire(result, durationMs) {
      add(results, result);
      if (result !== "ok") return;
      const seconds = durationMs / 1_000;
      count += 1;
      sumSeconds += seconds;
      for (const [index, limit] of BUCKETS_SECONDS.entries()) if (seconds <= limit) buckets[index] = (buckets[index] ?? 0) + 1;
    },
    text(gauges) {
      const duration = "glovebox_fleet_acquire_seconds";
      const lines = [
        ...gaugeLines(fleet, gauges),
        ...head("glovebox_fleet_acts_total", "counter", "Lifecycle acts done, by kind."),
        ...[...acts].sort().map(([act, value]) => line("glovebox_fleet_acts_total", { act }, value)),
        ...head("glovebox_fleet_acquires_total", "counter", "Acquires that ended, by result: ok or an error's code."),
        ...[...results].sort().map(([result, value]) => line("glovebox_fleet_acquires_total", { result }, value)),
        ...head(duration, "histogram", "From acquire to lease, of those that got one."),
        ...BUCKETS_SECONDS.map((limit, index) => line(`${duration}_bucket`, { le: String(limit) }, buckets[index] ?? 0)),
        line(`${duration}_bucket`, { le: "+Inf" }, count),
        line(`${duration}_sum`, {}, sumSeconds),
        line(`${duration}_count`, {}, count),
      ];
      return `${lines.join("\n")}\n`;
    },
  };
}
