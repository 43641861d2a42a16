export { connectPosix } from "./connect.js";
export type { TargetFacts } from "./facts.js";
export type { Frame, Lane, LaneCall } from "./lane.js";
export type { PosixConnection, PosixOptions } from "./options.js";
export { quote, quoteLine } from "./quote.js";
export type { ProcessOutcome, RemoteProcess, StartOptions, Transport } from "./transport.js";
