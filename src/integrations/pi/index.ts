export type { PiBashOperations } from "./bash-operations.js";
export { type PiExtensionOptions, piExtension } from "./extension.js";
export type { PiExtension, PiExtensionApi, PiTool, PiToolResult } from "./host.js";
export {
  type PiEditOperations,
  type PiFindOperations,
  type PiGrepOperations,
  type PiLsOperations,
  type PiOperations,
  type PiReadOperations,
  type PiWriteOperations,
  piOperations,
} from "./operations.js";
