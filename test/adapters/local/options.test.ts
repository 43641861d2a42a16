import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { resolveTarget } from "../../../adapters/index.js";
import { local } from "../../../adapters/local/index.js";
import { openEnvironment } from "../../../src/environment.js";
import { describeTarget } from "../../support/describe-target.js";
import { afterwards, codeOf, makeScene, open } from "./scene.js";

describeTarget("local", "local targets", () => {
  it("are named by a URL whose options are checked", async () => {
    const { root } = makeScene();
    const target = await resolveTarget(`local:${root}?hardLinks=break&durable=0&allowProtected=true&maxFileBytes=1000`);
    expect([target.kind, target.label]).toEqual(["local", `local:${root}`]);
    const environment = await openEnvironment(target);
    afterwards(() => environment.close());
    expect((await environment.describe()).facts).toMatchObject({
      hardLinks: "break",
      durable: false,
      allowProtected: true,
      maxFileBytes: 1000,
    });
    expect(environment.capabilities.durable).toBe(false);
    for (const url of [
      `local:${root}?hardlinks=break`,
      `local:${root}?hardLinks=maybe`,
      `local:${root}?allowProtected=yes`,
      `local:${root}?maxFileBytes=-1`,
      `local:${root}?maxOpenFiles=0`,
      "local:",
      "local://host/path",
    ]) {
      const refused = await resolveTarget(url).catch((error: unknown) => error);
      expect(refused, url).toMatchObject({ code: "invalid_argument" });
    }
  });

  it("a relative path is relative to the process, and the root is its canonical path", async () => {
    const environment = await open("test/adapters");
    expect(environment.root).toBe(join(process.cwd(), "test/adapters"));
    expect(environment.cwd).toBe(environment.root);
  });

  it("what is no directory cannot be opened", async () => {
    const { root } = makeScene();
    writeFileSync(join(root, "file"), "");
    expect(await codeOf(open(join(root, "missing")))).toBe("not_found");
    expect(await codeOf(open(join(root, "file")))).toBe("not_directory");
    expect(() => local("")).toThrow(/Say "\."/);
    expect(await codeOf(openEnvironment(local(root), { signal: AbortSignal.abort() }))).toBe("aborted");
  });

  it("L01 say that there is no isolation, and what else to know", async () => {
    const { root } = makeScene();
    const { isolation, warnings, kind, label } = await (await open(root)).describe();
    expect([isolation, kind, label]).toEqual(["none: commands run as you, on this machine", "local", `local:${root}`]);
    expect(warnings[0]).toBe("The root confines file tools only: a command reads, writes and stops whatever this account can.");
    expect(warnings.includes("Commands run as root.")).toBe(process.getuid?.() === 0);
    const weakened = await (await open(root, { hardLinks: "inplace", durable: false, allowProtected: true })).describe();
    expect(weakened.warnings.filter((warning) => /inplace|durable|allowProtected/.test(warning))).toHaveLength(3);
  });

  it("two of one machine share their file namespace, whatever their roots", async () => {
    const { root } = makeScene();
    mkdirSync(join(root, "below"));
    const [one, other] = [await open(root), await open(join(root, "below"))];
    expect(one.id).toBe(other.id);
    expect(one.mutationKey("below/f")).toBe(other.mutationKey("f"));
    expect(one.spoolDirectory).not.toBe(other.spoolDirectory);
  });
});
