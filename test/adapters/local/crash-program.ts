import { local } from "../../../adapters/local/index.js";
import { openEnvironment } from "../../../src/environment.js";

/*
 * Is killed from outside: ROOT commands|write.
 */
const [root = "", what = ""] = process.argv.slice(2);
const environment = await openEnvironment(local(root));

if (what === "commands") {
  const marked = (command: string): string => `sh -c ': > pid-$$; ${command}'`;
  await environment.exec(
    `setsid ${marked("exec sleep 600")} >/dev/null 2>&1 & nohup ${marked("exec sleep 600")} >/dev/null 2>&1 & (setsid ${marked("trap : TERM HUP; while :; do sleep 1; done")} &)`,
  );
  void environment.exec(marked("exec sleep 600"));
} else {
  const write = async (): Promise<void> => {
    for (;;) await environment.writeFile("f", new Uint8Array(64 * 1024 * 1024));
  };
  void write();
}
process.stdout.write("ready\n");
setInterval(() => {}, 1000);
