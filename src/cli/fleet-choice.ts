import { createFleet, type Fleet } from "../fleet/index.js";
import { auditActs, openAuditFile } from "./audit-file.js";
import { UsageError } from "./output.js";
import { provisionerOf } from "./provisioner.js";

export interface FleetChoice {
  readonly fleet?: string;
  readonly host?: readonly string[];
  readonly audit?: string;
}

/** The fleet's id and secret. The secret is taken out of the environment: nothing that is started from here inherits it. */
export function identityOf(given: string | undefined): { readonly id: string; readonly secret: string } {
  const id = given ?? process.env.GLOVEBOX_FLEET;
  const { GLOVEBOX_FLEET_SECRET: secret } = process.env;
  delete process.env.GLOVEBOX_FLEET_SECRET;
  if (!id) throw new UsageError("which fleet? Name it with --fleet, or set GLOVEBOX_FLEET");
  if (!secret) throw new UsageError("the fleet's secret is missing: set GLOVEBOX_FLEET_SECRET to the one its processes have");
  return { id, secret };
}

/** For one thing to do and then end: nothing is adopted, no clock runs. */
export async function withFleet(options: FleetChoice, work: (fleet: Fleet, id: string) => Promise<void>): Promise<void> {
  const { id, secret } = identityOf(options.fleet);
  const onEvent = options.audit === undefined ? undefined : auditActs(openAuditFile(options.audit));
  const provisioner = await provisionerOf(options.host);
  try {
    await using fleet = createFleet({ provisioner, id, secret, attend: false, onEvent });
    await work(fleet, id);
  } finally {
    await provisioner.close();
  }
}
