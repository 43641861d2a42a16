import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { memory, seedFromDirectory } from "../../../adapters/memory/index.js";
import { openEnvironment } from "../../../src/environment.js";

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "glovebox-seed-"));
  await mkdir(join(directory, "src/empty"), { recursive: true });
  await writeFile(join(directory, "src/a.ts"), "a");
  await writeFile(join(directory, "run.sh"), "#!/bin/sh\n");
  await chmod(join(directory, "run.sh"), 0o755);
  await symlink("src/a.ts", join(directory, "link"));
  await symlink("/etc/passwd", join(directory, "outside"));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

describe("seeding from a directory", () => {
  it("copies files, modes, directories and symlinks, and leaves special files out", async () => {
    execFileSync("mkfifo", [join(directory, "fifo")]);
    await using environment = await openEnvironment(memory({ seedDirectory: directory, files: { "extra.txt": "x" } }));
    expect(environment.snapshot()).toEqual({
      "extra.txt": "x",
      link: { symlink: "src/a.ts" },
      outside: { symlink: "/etc/passwd" },
      "run.sh": { data: "#!/bin/sh\n", mode: 0o755 },
      "src/a.ts": "a",
      "src/empty": { directory: true },
    });
  });

  it("M04 a link to a place outside leads nowhere in memory", async () => {
    await using environment = await openEnvironment(memory({ seedDirectory: directory }));
    await expect(environment.readFile("outside")).rejects.toMatchObject({ code: "not_found" });
  });

  it("never writes back", async () => {
    await using environment = await openEnvironment(memory({ seedDirectory: directory }));
    await environment.writeFile("src/a.ts", new TextEncoder().encode("changed"));
    expect((await seedFromDirectory(directory))["src/a.ts"]).toMatchObject({ data: Buffer.from("a") });
  });

  it("refuses a directory that is too large or not there, and an open after that can succeed", async () => {
    await expect(seedFromDirectory(directory, { maxBytes: 5 })).rejects.toMatchObject({ code: "too_large" });
    const target = memory({ seedDirectory: join(directory, "later") });
    await expect(openEnvironment(target)).rejects.toMatchObject({ code: "not_found" });
    await mkdir(join(directory, "later"));
    await writeFile(join(directory, "later/x"), "1");
    await using environment = await openEnvironment(target);
    expect(environment.snapshot()).toEqual({ x: "1" });
  });
});
