import { mkdtempSync } from "node:fs";
import { connectPosix, type PosixOptions } from "../../../adapters/posix/index.js";
import type { Target } from "../../../src/contract/target.js";
import { type LocalTransportOptions, localTransport } from "./local-transport.js";

export interface PosixTargetOptions extends Omit<PosixOptions, "onEvent" | "signal"> {
  readonly transport?: LocalTransportOptions;
}

/** This machine over a shell, as if it were far away. Connections of one target share its id. */
export function posixTarget({ transport, ...options }: PosixTargetOptions): Target {
  const id = `test:${transport?.uid ?? "self"}`;
  return {
    kind: "posix",
    label: "test:local",
    connect: (connecting) => connectPosix(localTransport({ id, ...transport }), { ...options, ...connecting }),
  };
}

export function scratchDirectory(): string {
  return mkdtempSync("/tmp/glovebox-posix-");
}
