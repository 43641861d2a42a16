export type { AcquireOptions } from "./acquiring.js";
export { createFleet, type Fleet, type ListedSandbox, type UserOptions } from "./fleet.js";
export type { Lease } from "./lease.js";
export type { FleetUser } from "./names.js";
export type { FleetCaps, FleetClocks, FleetOptions, UserConfig, WarmOptions } from "./options.js";
export type { Finding, Verdict } from "./survey.js";
export { type TargetProvisionerOptions, targetProvisioner } from "./target-provisioner.js";
