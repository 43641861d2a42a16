export { parseTargetUrl } from "./contract/address.js";
export { createEmitter, type Emitter } from "./contract/emitter.js";
export { ERROR_CODES, type ErrorCode, type ErrorFacts, GloveboxError } from "./contract/errors.js";
export type { GloveboxEvent } from "./contract/events.js";
export type {
  BashOperations,
  EditOperations,
  Entry,
  ExecOptions,
  ExecResult,
  FileKind,
  FileRead,
  FileVerbs,
  FileWritten,
  FindOperations,
  FindQuery,
  FindResult,
  FoundPath,
  GrepLine,
  GrepOperations,
  GrepQuery,
  GrepResult,
  LsOperations,
  OutputStream,
  ReadFileOptions,
  ReadOperations,
  SearchOptions,
  SearchVerbs,
  ShellVerbs,
  Stat,
  VerbName,
  VerbOptions,
  Verbs,
  WriteFileOptions,
  WriteOperations,
} from "./contract/operations.js";
export { compileValidator, type JsonSchema, type Static, stringEnum, Type, type Validation, type Validator } from "./contract/schema.js";
export type {
  Adapter,
  Capabilities,
  Connection,
  ConnectOptions,
  Environment,
  Layer,
  Place,
  Provisioned,
  Provisioner,
  ProvisionRequest,
  Target,
  TargetAddress,
  TargetDescription,
  VerbCall,
} from "./contract/target.js";
export {
  type AgentTool,
  bindTool,
  type Content,
  defineTool,
  type ExecuteOptions,
  type ImageContent,
  type RenderStyle,
  type TextContent,
  type Tool,
  type ToolCall,
  type ToolContext,
  type ToolDefinition,
  type ToolEffect,
  type ToolResult,
  withFileMutationQueue,
} from "./contract/tool.js";
export { type ErrorData, errorResult, textResult } from "./contract/tool-result.js";
export { type OpenOptions, openEnvironment } from "./environment.js";
export {
  type Around,
  type AuditOptions,
  type AuditSink,
  audit,
  type BreakerOptions,
  breaker,
  confine,
  createRedactor,
  intercept,
  type LimitOptions,
  limit,
  type RetryOptions,
  readOnly,
  retry,
  trace,
  traceTool,
} from "./layers/index.js";
export {
  type AfterToolCall,
  type AfterToolCallContext,
  type Ask,
  type AskDecision,
  type AskRequest,
  type BatchOptions,
  type BatchResult,
  type BeforeToolCall,
  type BeforeToolCallVerdict,
  type CallResult,
  createScheduler,
  type HookContext,
  type Scheduler,
  type SchedulerOptions,
} from "./scheduler/index.js";
export { bashTool } from "./tools/bash.js";
export { editTool } from "./tools/edit.js";
export { findTool } from "./tools/find.js";
export { grepTool } from "./tools/grep.js";
export { type CreateToolsOptions, createReadOnlyTools, createTools, defaultToolNames, type ToolName, toolNames } from "./tools/index.js";
export { lsTool } from "./tools/ls.js";
export { readTool } from "./tools/read.js";
export { createToolRegistry, type RegisterOptions, type RegistryOptions, type ToolRegistry } from "./tools/registry.js";
export { writeTool } from "./tools/write.js";
