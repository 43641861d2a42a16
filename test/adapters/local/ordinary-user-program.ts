import { local } from "../../../adapters/local/index.js";
import { openEnvironment } from "../../../src/environment.js";
import { contractCases, runContract } from "../../../src/testing/index.js";

/*
 * As an account that is not root: the promises that root cannot test, and writes to files of others: ROOT PATH...
 */
const [root = "", ...paths] = process.argv.slice(2);
const open = () => openEnvironment(local(root));

const cases = contractCases.filter(({ needs = [] }) => needs.includes("ordinaryUser"));
const results = await runContract({ open, cases });
const environment = await open();
const codes: (string | undefined)[] = [];
for (const path of paths) {
  codes.push(
    await environment.writeFile(path, Buffer.from("new")).then(
      () => "written",
      (error: { readonly code?: string }) => error.code,
    ),
  );
}
const { warnings } = await environment.describe();
await environment.close();
process.stdout.write(
  JSON.stringify({
    uid: process.getuid?.(),
    cases: results.map(({ name, outcome, reason }) => ({ name, outcome, reason })),
    codes,
    warnings,
  }),
);
