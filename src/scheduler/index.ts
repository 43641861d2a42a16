export type { BatchResult, CallResult } from "./batch.js";
export type {
  AfterToolCall,
  AfterToolCallContext,
  AfterToolCallReplacement,
  Ask,
  AskDecision,
  AskRequest,
  BeforeToolCall,
  BeforeToolCallVerdict,
  HookContext,
} from "./hooks.js";
export { type BatchOptions, createScheduler, type Scheduler, type SchedulerOptions } from "./scheduler.js";
