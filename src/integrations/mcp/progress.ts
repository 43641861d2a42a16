import type { ServerContext } from "@modelcontextprotocol/server";
import type { ToolResult } from "../../index.js";

/** Least time between two notifications of one call: they are for people, and some clients draw every one. */
const INTERVAL_MS = 200;
const MAX_MESSAGE_CHARACTERS = 200;

/** Passes a call's updates on to a client that asked for progress. */
export interface ProgressReporter {
  report(update: ToolResult): void;
}

/** Nothing is sent unless the request carries a progress token. `progress` counts the notifications; the last line of output is the message. */
export function createProgressReporter(context: ServerContext): ProgressReporter {
  const progressToken = context.mcpReq._meta?.progressToken;
  let lastMs = Number.NEGATIVE_INFINITY;
  let progress = 0;
  return {
    report(update) {
      const nowMs = performance.now();
      if (progressToken === undefined || context.mcpReq.signal.aborted || nowMs - lastMs < INTERVAL_MS) return;
      lastMs = nowMs;
      progress += 1;
      const params = { progressToken, progress, message: lastLine(update) };
      // A client that has gone away learns nothing any more; the call itself ends by its signal.
      context.mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
    },
  };
}

function lastLine({ content }: ToolResult): string {
  const text = content.map((item) => (item.type === "text" ? item.text : "")).join("\n");
  const line = text.slice(text.trimEnd().lastIndexOf("\n") + 1).trimEnd();
  return line.length > MAX_MESSAGE_CHARACTERS ? `${line.slice(0, MAX_MESSAGE_CHARACTERS - 1).replace(/[\ud800-\udbff]$/, "")}…` : line;
}
