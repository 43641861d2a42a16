export type { PassphraseOf } from "./keys.js";
export { type OpenHostOptions, openHost, type SshHost } from "./open.js";
export { readAddress, type SshOptions } from "./options.js";
export { adapter, type SshExtras, ssh } from "./ssh.js";
