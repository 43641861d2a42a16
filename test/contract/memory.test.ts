import { memory } from "../../adapters/memory/index.js";
import { describeTarget } from "../support/describe-target.js";
import { memoryHost } from "./memory-host.js";
import { describeContract } from "./run.js";

describeTarget("memory", "the contract", () => {
  describeContract("memory", () => memory(), { host: memoryHost });
  describeContract("memory as an ordinary user", () => memory({ enforceModes: true }), {
    host: memoryHost,
    ordinaryUser: true,
    variants: ["plain"],
  });
  describeContract("memory with a root", () => memory({ cwd: "/srv/root/work", root: "/srv/root" }), {
    host: memoryHost,
    variants: ["plain"],
  });
});
