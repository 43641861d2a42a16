import { execFileSync } from "node:child_process";
import { afterAll, expect, it } from "vitest";
import { dockerProvisioner } from "../../../adapters/docker/index.js";
import type { Provisioned } from "../../../src/contract/target.js";
import { openEnvironment } from "../../../src/environment.js";
import { startContainer } from "../../support/containers.js";
import { describeTarget } from "../../support/describe-target.js";
import { engineClient } from "../../support/sweep.js";
import { exists, testLabels } from "./engine-witness.js";

const engine = engineClient();

describeTarget("docker", "the provisioner", () => {
  const provisioner = dockerProvisioner({ image: "glovebox/busybox" });
  const mark = { ...testLabels(), "dev.glovebox.mark": `provisioner-${process.pid}` };
  const made: string[] = [];
  afterAll(async () => {
    for (const id of made) await provisioner.remove(id);
    await provisioner.close();
  });

  async function create(labels: Readonly<Record<string, string>> = {}, name?: string): Promise<Provisioned> {
    const provisioned = await provisioner.create({ labels: { ...mark, ...labels }, ...(name === undefined ? {} : { name }) });
    made.push(provisioned.id);
    return provisioned;
  }
  const stateOf = async (id: string): Promise<string | undefined> => (await provisioner.list(mark)).find((each) => each.id === id)?.state;

  it("creates, lists, pauses, resumes, stops, starts and removes, each twice", async () => {
    const { id, name, state, labels, createdMs } = await create({ "glovebox.fleet.user": "u1" });
    expect({ state, label: labels["glovebox.fleet.user"] }).toEqual({ state: "running", label: "u1" });
    expect(Math.abs(createdMs - Date.now())).toBeLessThan(60_000);
    expect((await provisioner.list({ ...mark, "glovebox.fleet.user": "u1" })).map((each) => [each.id, each.name])).toEqual([[id, name]]);
    expect(await provisioner.list({ "glovebox.fleet.user": "nobody" })).toEqual([]);
    const steps = [
      ["pause", "paused"],
      ["resume", "running"],
      ["stop", "stopped"],
      ["start", "running"],
    ] as const;
    for (const [verb, expected] of steps) {
      await provisioner[verb](id);
      await provisioner[verb](id);
      expect(await stateOf(id)).toBe(expected);
    }
    await provisioner.remove(id);
    await provisioner.remove(id);
    expect(await exists(id)).toBe(false);
    for (const verb of ["start", "stop", "pause", "resume"] as const)
      await expect(provisioner[verb](id)).rejects.toMatchObject({ code: "gone" });
  });

  it("removes a paused one", async () => {
    const { id } = await create();
    await provisioner.pause(id);
    await provisioner.remove(id);
    expect(await exists(id)).toBe(false);
  });

  it("settles the race for a name", async () => {
    const name = `test-claim-${process.pid}`;
    const both = [await create(), await create()];
    const claims = await Promise.allSettled(both.map(({ id }) => provisioner.rename(id, name)));
    const lost = claims.filter((each) => each.status === "rejected");
    expect(lost).toHaveLength(1);
    expect(lost[0]?.reason).toMatchObject({ code: "exists" });
    const winner = both[claims.findIndex((each) => each.status === "fulfilled")];
    await provisioner.rename(winner?.id ?? "", name);
    await expect(provisioner.create({ name, labels: mark })).rejects.toMatchObject({ code: "exists" });
    await expect(provisioner.rename(winner?.id ?? "", "a b")).rejects.toMatchObject({ code: "invalid_argument" });
  });

  it("D30 labels of ours are refused, a fleet's are not", async () => {
    for (const name of ["glovebox.owner", "glovebox.kind", "glovebox.anything", "glovebox.fleet."]) {
      await expect(provisioner.create({ labels: { [name]: "x" } })).rejects.toMatchObject({ code: "invalid_argument" });
    }
  });

  it("P8 leaves alone what no provisioner made, a copy with its labels included", async () => {
    await using foreign = await startContainer({ image: "glovebox/busybox" });
    const original = await create();
    const copied = await engine.getContainer(original.id).commit({ repo: `glovebox-test/copy-${process.pid}` });
    const copy = await engine.createContainer({
      Image: (copied as { Id: string }).Id,
      HostConfig: { NetworkMode: "none" },
      Labels: { ...testLabels() },
    });
    await copy.start();
    expect((await copy.inspect()).Config.Labels["glovebox.kind"]).toBe("provisioned");
    for (const id of [foreign.id, copy.id]) {
      for (const verb of ["start", "stop", "pause", "resume", "remove", "export"] as const) {
        await expect(provisioner[verb](id)).rejects.toMatchObject({ code: "permission_denied" });
      }
      await expect(provisioner.rename(id, "test-mine")).rejects.toMatchObject({ code: "permission_denied" });
      expect((await engine.getContainer(id).inspect()).State.Running).toBe(true);
    }
    for (const id of ["", "x", "../x", original.id.slice(0, 12)])
      await expect(provisioner.remove(id)).rejects.toMatchObject({ code: "invalid_argument" });
    await copy.remove({ force: true });
    await engine.getImage(`glovebox-test/copy-${process.pid}`).remove();
  });

  it("connects, and the container outlives the connection, its lanes a pause", async () => {
    const { id } = await create();
    const first = await openEnvironment(provisioner.target(id));
    await first.writeFile("kept", Buffer.from("x"));
    for (let round = 0; round < 3; round += 1) {
      await provisioner.pause(id);
      await provisioner.resume(id);
      expect(Buffer.from((await first.readFile("kept")).data).toString()).toBe("x");
    }
    await first.close();
    const second = await openEnvironment(provisioner.target(id));
    expect(Buffer.from((await second.readFile("kept")).data).toString()).toBe("x");
    await second.close();
  });

  it("a pause never meets a start half way, which would freeze the container for good", async () => {
    const { id } = await create();
    const environment = await openEnvironment(provisioner.target(id));
    for (let round = 0; round < 12; round += 1) {
      // Each command uses up a spare shell, so that another is starting when the pause comes.
      expect((await environment.exec("true")).exitCode).toBe(0);
      await new Promise((resolve) => setTimeout(resolve, round * 8));
      await provisioner.pause(id);
      await provisioner.resume(id);
    }
    await environment.close();
  });

  it("exports the workspace as a tar stream, whole or with an error", async () => {
    const { id } = await create();
    const environment = await openEnvironment(provisioner.target(id));
    await environment.writeFile("a/b.txt", Buffer.from("content"));
    await environment.exec("head -c 3000000 /dev/urandom > big; sha256sum big > sum");
    const chunks: Uint8Array[] = [];
    for await (const chunk of await provisioner.export(id)) chunks.push(chunk);
    const tar = Buffer.concat(chunks);
    const listing = execFileSync("tar", ["-tf", "-"], { input: tar }).toString().split("\n").sort();
    expect(listing).toEqual(["", "./", "./a/", "./a/b.txt", "./big", "./sum"]);
    expect(execFileSync("tar", ["-xOf", "-", "./a/b.txt"], { input: tar }).toString()).toBe("content");

    await environment.exec("mkdir locked; echo x > locked/y; chmod 0 locked");
    const broken = (async () => {
      for await (const _ of await provisioner.export(id));
    })();
    await expect(broken).rejects.toMatchObject({ code: "unexpected", message: expect.stringContaining("not complete") });
    await environment.exec("chmod 700 locked");

    // Leaving early lets go of tar.
    for await (const _ of await provisioner.export(id)) break;
    await environment.close();
    await provisioner.stop(id);
    await expect(provisioner.export(id)).rejects.toMatchObject({ code: "gone" });
  });
});
