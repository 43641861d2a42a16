import type { McpServerOptions } from "../integrations/mcp/index.js";

/** What a server's calls act on. */
export interface Backing {
  readonly server: Pick<McpServerOptions, "target" | "targets" | "ownTargets" | "instructions">;
  /** Prometheus' text, where there is something to tell. */
  readonly metrics?: () => string;
  /** To be called when the server is closed. */
  close(): Promise<void>;
}
