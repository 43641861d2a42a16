import { local } from "../../../adapters/local/index.js";
import { openEnvironment } from "../../../src/environment.js";

/*
 * One write, and the code that it came to: ROOT FILE TEXT.
 */
const [root = "", file = "", content = ""] = process.argv.slice(2);
const environment = await openEnvironment(local(root));
const code = await environment.writeFile(file, Buffer.from(content)).then(
  () => "written",
  (error: { readonly code?: string }) => error.code,
);
process.stdout.write(code ?? "no code");
await environment.close();
