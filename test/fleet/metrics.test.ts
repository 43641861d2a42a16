import { expect, it } from "vitest";
import { createMetrics } from "../../src/fleet/metrics.js";

it("writes Prometheus' text", () => {
  const metrics = createMetrics("prod");
  metrics.countAct("created");
  metrics.countAct("created");
  metrics.countAcquire("ok", 12);
  metrics.countAcquire("busy", 1);
  const text = metrics.text([
    { name: "glovebox_fleet_sandboxes", help: "By state.", values: [{ labels: { state: 'a"b\\c\nd' }, value: 3 }] },
  ]);
  expect(text).toBe(`# HELP glovebox_fleet_sandboxes By state.
# TYPE glovebox_fleet_sandboxes gauge
glovebox_fleet_sandboxes{fleet="prod",state="a\\"b\\\\c\\nd"} 3
# HELP glovebox_fleet_acts_total Lifecycle acts done, by kind.
# TYPE glovebox_fleet_acts_total counter
glovebox_fleet_acts_total{fleet="prod",act="created"} 2
# HELP glovebox_fleet_acquires_total Acquires that ended, by result: ok or an error's code.
# TYPE glovebox_fleet_acquires_total counter
glovebox_fleet_acquires_total{fleet="prod",result="busy"} 1
glovebox_fleet_acquires_total{fleet="prod",result="ok"} 1
# HELP glovebox_fleet_acquire_seconds From acquire to lease, of those that got one.
# TYPE glovebox_fleet_acquire_seconds histogram
glovebox_fleet_acquire_seconds_bucket{fleet="prod",le="0.002"} 0
glovebox_fleet_acquire_seconds_bucket{fleet="prod",le="0.005"} 0
glovebox_fleet_acquire_seconds_bucket{fleet="prod",le="0.01"} 0
glovebox_fleet_acquire_seconds_bucket{fleet="prod",le="0.02"} 1
glovebox_fleet_acquire_seconds_bucket{fleet="prod",le="0.05"} 1
glovebox_fleet_acquire_seconds_bucket{fleet="prod",le="0.1"} 1
glovebox_fleet_acquire_seconds_bucket{fleet="prod",le="0.25"} 1
glovebox_fleet_acquire_seconds_bucket{fleet="prod",le="0.5"} 1
glovebox_fleet_acquire_seconds_bucket{fleet="prod",le="1"} 1
glovebox_fleet_acquire_seconds_bucket{fleet="prod",le="2.5"} 1
glovebox_fleet_acquire_seconds_bucket{fleet="prod",le="5"} 1
glovebox_fleet_acquire_seconds_bucket{fleet="prod",le="10"} 1
glovebox_fleet_acquire_seconds_bucket{fleet="prod",le="30"} 1
glovebox_fleet_acquire_seconds_bucket{fleet="prod",le="+Inf"} 1
glovebox_fleet_acquire_seconds_sum{fleet="prod"} 0.012
glovebox_fleet_acquire_seconds_count{fleet="prod"} 1
`);
});
