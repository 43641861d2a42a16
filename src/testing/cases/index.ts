import type { ContractCase } from "../contract-case.js";
import { backgroundCases, closingCases } from "./background.js";
import { confinementCases } from "./confinement.js";
import { contentCases } from "./content.js";
import { environmentCases } from "./environment.js";
import { execCases } from "./exec.js";
import { execInputCases } from "./exec-input.js";
import { findCases } from "./find.js";
import { grepCases } from "./grep.js";
import { killCases } from "./kill.js";
import { namesCases } from "./names.js";
import { outputCases } from "./output.js";
import { readCases } from "./read.js";
import { readLinesCases } from "./read-lines.js";
import { readdirCases } from "./readdir.js";
import { realpathCases } from "./realpath.js";
import { statCases } from "./stat.js";
import { writeCases } from "./write.js";
import { writeMatchCases } from "./write-match.js";

/** Every promise of the contract, one case each. Names are unique. */
export const contractCases: readonly ContractCase[] = [
  ...environmentCases,
  ...readCases,
  ...readLinesCases,
  ...writeCases,
  ...writeMatchCases,
  ...statCases,
  ...readdirCases,
  ...realpathCases,
  ...namesCases,
  ...contentCases,
  ...confinementCases,
  ...grepCases,
  ...findCases,
  ...execCases,
  ...execInputCases,
  ...outputCases,
  ...killCases,
  ...backgroundCases,
  ...closingCases,
];
