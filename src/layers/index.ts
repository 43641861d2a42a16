export { type AuditOptions, type AuditSink, audit } from "./audit.js";
export { type BreakerOptions, breaker } from "./breaker.js";
export { confine } from "./confine.js";
export { type Around, intercept } from "./intercept.js";
export { type LimitOptions, limit } from "./limit.js";
export { readOnly } from "./read-only.js";
export { createRedactor } from "./redact.js";
export { type RetryOptions, retry } from "./retry.js";
export { trace, traceTool } from "./trace.js";
