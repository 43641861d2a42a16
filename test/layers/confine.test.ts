import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/memory/index.js";
import { openEnvironment } from "../../src/environment.js";
import { confine } from "../../src/layers/confine.js";
import { changed } from "./scripted.js";

const files = {
  "/etc/secret": "s",
  "/workspace-evil/x": "x",
  "/workspace/a": "a",
  "/workspace/sub/b": "b",
  "/workspace/in": { symlink: "sub/b" },
  "/workspace/out": { symlink: "/etc/secret" },
  "/workspace/dir": { symlink: "../etc" },
} as const;
const open = () => openEnvironment(memory({ files, exec: () => ({ exitCode: 0 }) }), { layers: [confine("/workspace")] });

describe("confine", () => {
  it.each([
    "../etc/secret",
    "/etc/secret",
    "//etc//secret",
    "sub/../../etc/secret",
    "out",
    "dir/secret",
    "/",
    "/workspace-evil/x",
    "dir/../etc/secret",
  ])("P03 P04 P28 refuses %s to every file and search verb", async (path) => {
    const environment = await open();
    const calls = [
      environment.readFile(path),
      environment.writeFile(path, new Uint8Array()),
      environment.stat(path),
      environment.readdir(path),
      environment.realpath(path),
      environment.grep(path, { pattern: "s", limit: 1 }),
      environment.find(path, { pattern: "*", limit: 1 }),
    ];
    for (const call of calls) {
      await expect(call).rejects.toMatchObject({
        code: "outside_root",
        message: `${JSON.stringify(path)} leads outside /workspace, and only what is in there can be used. Name a path inside it.`,
      });
    }
    expect(environment.disk.snapshot("/etc")).toEqual({ secret: "s" });
    expect(new Set(environment.calls.map(({ verb }) => verb))).toEqual(new Set(["realpath"]));
  });

  it("lets through what is inside, links that stay inside, files to be, and the spool directory", async () => {
    const environment = await open();
    const spooled = `${environment.spoolDirectory}/out.txt`;
    await environment.writeFile(spooled, new Uint8Array(2));
    await environment.writeFile("new/file", new Uint8Array(1));
    expect((await environment.stat(spooled)).size).toBe(2);
    expect((await environment.readFile("in")).canonicalPath).toBe("/workspace/sub/b");
    expect((await environment.readFile("dir/../workspace/a")).canonicalPath).toBe("/workspace/a");
    expect(await environment.realpath(".")).toBe("/workspace");
    expect((await environment.find(".", { pattern: "b", limit: 9 })).paths).toEqual([{ path: "sub/b", kind: "file" }]);
  });

  it("says what it is, and leaves commands alone", async () => {
    const environment = await open();
    expect(environment.root).toBe("/workspace");
    expect(environment.capabilities.confinement).toBe("checked");
    expect(await environment.exec("ls", { cwd: "/etc" })).toEqual({ exitCode: 0 });
  });

  it("does not say what a link to the outside leads to", async () => {
    const entries = await (await open()).readdir(".");
    expect(entries.filter(({ kind }) => kind === "symlink")).toEqual([
      { name: "in", kind: "symlink", linkTarget: "sub/b", linkKind: "file" },
      { name: "out", kind: "symlink", linkTarget: "/etc/secret" },
      { name: "dir", kind: "symlink", linkTarget: "../etc" },
    ]);
  });

  it("does not hand on a read that was led astray between the check and the read", async () => {
    const target = changed(memory({ files }), () => ({ realpath: async () => "/workspace/a" }));
    const environment = await openEnvironment(target, { layers: [confine("/workspace")] });
    await expect(environment.readFile("out")).rejects.toMatchObject({ code: "outside_root" });
  });
});
