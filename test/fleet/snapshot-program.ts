import { dockerProvisioner } from "../../adapters/docker/index.js";
import { createFleet } from "../../src/fleet/index.js";
import { SECRET } from "./memory-fleet.js";

/** Takes snapshots of one sandbox until it is killed. */
const fleet = createFleet({ provisioner: dockerProvisioner({ image: "glovebox/busybox" }), id: process.argv[2] ?? "", secret: SECRET });
await using lease = await fleet.acquire("ann");
await lease.environment.exec('for i in $(seq 400); do echo "$i" >"f$i"; done; head -c 60000000 /dev/zero >big', {
  cwd: lease.environment.cwd,
});
for (;;) {
  process.stdout.write("taking\n");
  await fleet.snapshot("ann");
  process.stdout.write("taken\n");
}
