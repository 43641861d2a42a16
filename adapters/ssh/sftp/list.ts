import type { Entry } from "../../../src/contract/operations.js";
import { refusal } from "../../posix/errors.js";
import type { SftpChannel } from "./channel.js";
import { join, kindOf, locate, why } from "./paths.js";

/** A round trip to find the directory, one for every hundred entries, and one more where there are symlinks. */
export async function readdir(channel: SftpChannel, path: string): Promise<readonly Entry[]> {
  const { canonicalPath, facts } = await locate(channel, path);
  if (kindOf(facts) !== "directory") throw refusal("not_directory", path);
  const found = await channel.readdir(canonicalPath).catch(async (error) => {
    throw await why(channel, path, error);
  });
  const named = found.filter(({ filename }) => filename !== "" && filename !== "." && filename !== ".." && !/[/\0]/.test(filename));
  return await Promise.all(
    named.map(async ({ filename: name, attrs }): Promise<Entry> => {
      const kind = kindOf(attrs);
      if (kind !== "symlink") return { name, kind };
      const at = join(canonicalPath, name);
      const [linkTarget, behind] = await Promise.all([
        channel.readlink(at).catch(() => undefined),
        channel.stat(at).catch(() => undefined),
      ]);
      return { name, kind, ...(linkTarget !== undefined && { linkTarget }), ...(behind && { linkKind: kindOf(behind) }) };
    }),
  );
}
