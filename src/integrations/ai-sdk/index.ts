export { aiSdkSandboxProvider, type SandboxProviderOptions } from "./sandbox-provider.js";
export { toAiSdkSandbox } from "./sandbox-session.js";
export type {
  AiSdkCommandOptions,
  AiSdkNetworkSandboxSession,
  AiSdkPortEndpoint,
  AiSdkPortOptions,
  AiSdkProcess,
  AiSdkReadTextOptions,
  AiSdkSandboxProvider,
  AiSdkSandboxSession,
  AiSdkSessionRequest,
  AiSdkSpawn,
  AiSdkWriteOptions,
} from "./sandbox-types.js";
export {
  type AiSdkExecutionOptions,
  type AiSdkInputSchema,
  type AiSdkModelOutput,
  type AiSdkTool,
  type AiSdkToolOutput,
  toAiSdkTools,
} from "./tools.js";
