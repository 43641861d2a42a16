import { openSync, writeSync } from "node:fs";
import type { GloveboxEvent } from "../contract/events.js";
import { UsageError } from "./output.js";

/** Appends whole lines to a file that is made for its owner only. Several processes may share one. */
export type AuditFile = (line: string) => void;

export function openAuditFile(file: string): AuditFile {
  try {
    const descriptor = openSync(file, "a", 0o600);
    return (line) => void writeSync(descriptor, line);
  } catch (error) {
    throw new UsageError(`cannot write the audit file: ${(error as Error).message}`);
  }
}

/** One JSON line for each act on a fleet's sandboxes, after it was done. A line that cannot be written is told on standard error. */
export function auditActs(write: AuditFile): (event: GloveboxEvent) => void {
  return (event) => {
    if (event.type !== "fleet_act") return;
    const { type, durationMs, ...facts } = event;
    const line = { event: type, time: new Date().toISOString(), pid: process.pid, ...facts };
    try {
      write(`${JSON.stringify({ ...line, ...(durationMs === undefined ? {} : { durationMs: Math.round(durationMs) }) })}\n`);
    } catch (error) {
      process.stderr.write(`glovebox: the act ${facts.act} could not be recorded in the audit file: ${(error as Error).message}\n`);
    }
  };
}
