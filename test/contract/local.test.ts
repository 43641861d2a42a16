import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { local } from "../../adapters/local/index.js";
import { describeTarget } from "../support/describe-target.js";
import { localHost } from "./local-host.js";
import { describeContract } from "./run.js";

describeTarget("local", "the contract", () => {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), "glovebox-contract-")));

  afterAll(() => {
    rmSync(scratch, { recursive: true, force: true });
  });

  const makeTarget = () => {
    mkdirSync(join(scratch, "root"), { recursive: true });
    return local(join(scratch, "root"));
  };
  describeContract("local", makeTarget, { host: localHost });
});
