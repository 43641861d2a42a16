export { adapter, readAddress, readSandboxAddress } from "./address.js";
export { auditContainer, type Finding } from "./audit.js";
export { type DockerExtras, docker } from "./docker.js";
export type { EngineConnection, EngineOptions } from "./engine-address.js";
export type { AttachOptions, BindOptions, DockerOptions, SandboxOptions, TmpfsOptions, VolumeOptions } from "./options.js";
export { type DockerProvisioner, type DockerProvisionerOptions, dockerProvisioner } from "./provisioner.js";
