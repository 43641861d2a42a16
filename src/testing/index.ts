export { type AppendOperation, type AppendOptions, appendByMatch, checkAppends, runAppends, seededRandom } from "./append-history.js";
export { contractCases } from "./cases/index.js";
export type { ContractCase, ContractContext, ContractFacts, ContractNeed } from "./contract-case.js";
export { type ContractHost, hostOverExec } from "./contract-host.js";
export { type Cue, type Fault, type FaultPlan, faults } from "./faults.js";
export { type NaiveHost, naive } from "./naive.js";
export {
  isLinearizable,
  type RegisterAction,
  type RegisterClient,
  type RegisterOperation,
  runRegister,
} from "./register-history.js";
export { type CaseResult, type ContractOptions, type ContractSession, openContract, runContract } from "./run-contract.js";
