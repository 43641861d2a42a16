import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { afterAll, expect, it } from "vitest";
import { docker, dockerProvisioner } from "../../adapters/docker/index.js";
import type { Environment } from "../../src/contract/target.js";
import { openEnvironment } from "../../src/environment.js";
import { createFleet, type FleetOptions, type Lease, seed } from "../../src/fleet/index.js";
import { wipeFleet } from "../faults/fleet/orders.js";
import { describeTarget } from "../support/describe-target.js";
import { engineClient } from "../support/sweep.js";
import { SECRET } from "./memory-fleet.js";
import { rawTar } from "./tar-maker.js";

const engine = engineClient();
const ids: string[] = [];

function fleetOf(options: Omit<FleetOptions, "id" | "secret">, id = `test${randomBytes(4).toString("hex")}`) {
  ids.push(id);
  return createFleet({ ...options, id, secret: SECRET });
}

async function run(environment: Environment, command: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  await environment.exec(command, { cwd: environment.cwd, onOutput: (chunk) => void chunks.push(chunk) });
  return Buffer.concat(chunks).toString();
}

async function systemImages(): Promise<readonly string[]> {
  return (await engine.listImages({ filters: { label: ["glovebox.volume=system"] } })).flatMap(({ RepoTags: tags }) => tags ?? []);
}

describeTarget("docker", "files in and out over Docker", () => {
  const provisioner = dockerProvisioner({ image: "glovebox/busybox" });
  afterAll(async () => {
    for (const id of ids) await wipeFleet(id);
    for (const tag of await systemImages())
      if (ids.some((id) => tag.startsWith(`gbf-${id}-`))) await engine.getImage(tag).remove({ force: true });
    await provisioner.close();
  });

  it.each(["glovebox/busybox", "glovebox/sandbox"])(
    "T-1 seeds %s by its own tar and as its user, and keeps nothing of a hostile archive",
    async (image) => {
      await using environment = await openEnvironment(docker({ image }));
      const long = `${"d".repeat(120)}/é${"f".repeat(120)}`;
      const good = gzipSync(
        rawTar(
          { name: "run", content: "#!/bin/sh\necho ran\n", mode: 0o4755 },
          { name: "e/", type: "5" },
          { name: "L", type: "L", content: long },
          { name: "x", content: "far" },
        ),
      );
      expect(await seed(environment, { archive: good })).toMatchObject({ files: 2 });
      expect(
        await run(environment, "./run; stat -c '%U %a' run 2>/dev/null || stat -c '%u %a' run; find . -type d -name e; ls -A | wc -l"),
      ).toMatch(/^ran\n(sandbox|1000) 755\n\.\/e\n3\n$/);
      expect(Buffer.from((await environment.readFile(long)).data).toString()).toBe("far");
      const before = await run(environment, "find / -xdev -newer run -not -path '/proc/*' -type f 2>/dev/null; ls -A");
      for (const hostile of [
        rawTar({ name: "ok", content: "x" }, { name: "l", type: "2", link: "/tmp" }, { name: "l/x" }),
        rawTar({ name: "ok" }, { name: "../../tmp/x" }),
        rawTar({ name: "ok" }).subarray(0, 1_000),
      ]) {
        await expect(seed(environment, { archive: hostile })).rejects.toMatchObject({ code: "invalid_argument" });
      }
      expect(await run(environment, "find / -xdev -newer run -not -path '/proc/*' -type f 2>/dev/null; ls -A")).toBe(before);
    },
    120_000,
  );

  it("clones a repository inside, at a branch or a commit, and says when there is no way to it", async () => {
    await using environment = await openEnvironment(docker({ image: "glovebox/sandbox" }));
    const port = 9_418;
    const served = await run(
      environment,
      `set -e; mkdir /tmp/s; cd /tmp/s; git init -q -b main r; cd r; git config user.email a@b; git config user.name a; echo 1 >f; ln -s /etc/passwd l; git add .; git commit -qm 1; git rev-parse HEAD; echo 2 >f; git commit -qam 2; git checkout -q -b side; echo 3 >f; git commit -qam 3; git checkout -q main
      git config uploadpack.allowAnySHA1InWant true; git daemon --reuseaddr --base-path=/tmp/s --export-all --listen=127.0.0.1 --port=${port} --detach`,
    );
    const git = `git://127.0.0.1:${port}/r`;
    const protocols = ["git"] as const;
    await expect(seed(environment, { git })).rejects.toMatchObject({ code: "invalid_argument" });
    expect((await seed(environment, { git, protocols }, { into: "main" })).files).toBeGreaterThan(2);
    await seed(environment, { git, protocols, ref: "side" }, { into: "side" });
    await seed(environment, { git, protocols, ref: served.trim() }, { into: "first" });
    expect(
      await run(
        environment,
        "cat main/f side/f first/f; git -C main log --oneline | wc -l; ls -A; ls .git/hooks main/.git/hooks 2>/dev/null",
      ),
    ).toBe("2\n3\n1\n1\nfirst\nmain\nside\n");
    await expect(seed(environment, { git, protocols, ref: "nosuch" }, { into: "x" })).rejects.toMatchObject({ code: "not_found" });
    await expect(seed(environment, { git, protocols }, { into: "x", limits: { maxFiles: 3 } })).rejects.toMatchObject({
      code: "too_large",
    });
    await expect(seed(environment, { git: "https://glovebox.invalid/r" }, { into: "x" })).rejects.toMatchObject({ code: "disconnected" });
    expect(await run(environment, "ls -A x")).toBe("");
  }, 120_000);

  it("keeps a snapshot of one moment while the sandbox is in use, forks it with owners, modes and links, and exports both", async () => {
    await using fleet = fleetOf({ provisioner });
    const lease = await fleet.acquire("ann");
    await run(
      lease.environment,
      "mkdir -m 700 d; echo x >d/shut; ln d/shut hard; ln -s d/shut soft; chmod 0 d/shut; mkfifo pipe; (while :; do n=$((n+1)); echo $n >t; mv t a; echo $n >t; mv t b; done) >/dev/null 2>&1 &",
    );
    const { id } = await fleet.snapshot("ann");
    expect(await run(lease.environment, 'cat a >was; sleep 0.2; [ "$(cat a)" != "$(cat was)" ] && echo on')).toBe("on\n");
    expect(await fleet.size("ann")).toBeGreaterThan(4_096);
    await lease.release();
    await using forked: Lease = await fleet.acquire("bob", { from: id });
    expect(
      await run(
        forked.environment,
        "[ \"$(( $(cat a) - $(cat b) ))\" -le 1 ] && echo one; stat -c '%u %a %h' d/shut d; readlink soft; [ d/shut -ef hard ] && echo same; rm -f t; ls -A | tr '\\n' ' '",
      ),
    ).toBe("one\n1000 0 2\n1000 700 2\nd/shut\nsame\na b d hard pipe soft ");
    await fleet.stop("ann");
    for (const key of ["ann", "bob"]) {
      const archive: Uint8Array[] = [];
      await run((await fleet.acquire(key)).environment, "chmod 600 d/shut; echo whole >last");
      for await (const chunk of fleet.export(key)) archive.push(chunk);
      expect(execFileSync("tar", ["-xOf", "-", "./last"], { input: Buffer.concat(archive) }).toString()).toBe("whole\n");
    }
    const findings = await fleet.reconcile();
    expect(findings.filter(({ what, verdict }) => what === "volume" && verdict !== "keep")).toEqual([]);
    expect(await fleet.removeSnapshot(id)).toBe(true);
    expect((await provisioner.volumes({ "glovebox.fleet.id": ids.at(-1) ?? "" })).filter(({ isLock }) => !isLock)).toHaveLength(2);
  }, 180_000);

  it("keeps a changed system with its volume, over a fork and a replacement, and lets it go with the last", async () => {
    const writable = dockerProvisioner({
      image: "glovebox/busybox",
      user: "0:0",
      allowRoot: true,
      writableRootfs: true,
      addCapabilities: ["DAC_OVERRIDE"],
    });
    const options = { provisioner: writable, clocks: { pauseAfterMs: 1, tickMs: 20 } };
    const before = await systemImages();
    const fleet = fleetOf(options);
    await run((await fleet.acquire("ann")).environment, "echo changed >/etc/changed; echo x >note");
    await fleet.fork("ann", "bob");
    await fleet.destroy("ann");
    expect(await run((await fleet.acquire("bob")).environment, "cat /etc/changed note")).toBe("changed\nx\n");
    await fleet.close();
    await using next = fleetOf({ ...options, spec: "another" }, ids.at(-1));
    await expect.poll(async () => next.metrics(), { timeout: 60_000 }).toContain('act="replaced"} 1');
    expect(await run((await next.acquire("bob")).environment, "cat /etc/changed note")).toBe("changed\nx\n");
    expect((await systemImages()).length).toBe(before.length + 1);
    await next.destroy("bob");
    expect(await systemImages()).toEqual(before);
    await writable.close();
  }, 180_000);

  it("leaves nothing when it is killed at any moment of a snapshot, and the sandbox comes back", async () => {
    const id = `test${randomBytes(4).toString("hex")}`;
    ids.push(id);
    const labels = { "glovebox.fleet.id": id };
    const program = fileURLToPath(new URL("snapshot-program.ts", import.meta.url));
    for (const afterMs of [20, 150, 400]) {
      const child = spawn(process.execPath, ["--import", "tsx", program, id], { stdio: ["ignore", "pipe", "inherit"] });
      const ended = once(child, "exit");
      await once(child.stdout, "data");
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      child.kill("SIGKILL");
      await ended;
    }
    await using fleet = fleetOf({ provisioner, clocks: { reconcileMs: 200, tickMs: 50 } }, id);
    const lease = await fleet.acquire("ann");
    expect(await run(lease.environment, "ls | wc -l")).toBe("401\n");
    await lease.release();
    const whole = await fleet.snapshots();
    for (const snapshot of whole) await fleet.removeSnapshot(snapshot.id);
    const left = async (): Promise<readonly string[]> =>
      (await provisioner.volumes(labels)).flatMap(({ name, isLock }) => (isLock ? [] : [name]));
    await expect.poll(left, { timeout: 60_000 }).toHaveLength(1);
    expect(await engine.listContainers({ all: true, filters: { volume: [...(await left())] } })).toHaveLength(1);
    await using again = await fleet.acquire("ann");
    expect(await run(again.environment, "ls | wc -l")).toBe("401\n");
  }, 180_000);
});
