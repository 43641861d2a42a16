import { renameSync } from "node:fs";
import { join } from "node:path";

/*
 * Where there is no compiler: exchanges ROOT/d with ROOT/l by three renames, as fast as Node can.
 */
const [root = ""] = process.argv.slice(2);
const [d, l, other] = [join(root, "d"), join(root, "l"), join(root, "other")];
process.stdout.write("swapping\n");
const swap = (): void => {
  for (let turn = 0; turn < 1_000; turn += 1) {
    renameSync(d, other);
    renameSync(l, d);
    renameSync(other, l);
  }
  setImmediate(swap);
};
swap();
