/*
 * A platform: every user has a container of their own, with an agent's tools on it. A fleet makes the container on the
 * first call, keeps its files from turn to turn, pauses and stops it when nobody asks, and takes it over after a crash.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { createScheduler, createTools, type ToolCall } from "glovebox";
import { dockerProvisioner } from "glovebox/docker";
import { createFleet } from "glovebox/fleet";

const MIB = 1024 * 1024;
const provisioner = dockerProvisioner({ memoryBytes: 256 * MIB, pids: 128 });
// A service keeps its secret: without it the containers are nobody's. This one is gone with the example.
const secret = process.env.FLEET_SECRET ?? randomBytes(32).toString("hex");
const fleet = createFleet({ provisioner, id: `example${process.pid}`, secret, caps: { active: 8 } });

/** What a request handler calls with the tool calls of one user's model. */
async function runTurn(user: string, calls: readonly Omit<ToolCall, "id">[]): Promise<readonly string[]> {
  await using lease = await fleet.acquire(user);
  const scheduler = createScheduler({ tools: createTools(lease.environment), concurrency: 4 });
  const { results } = await scheduler.runBatch(calls.map((call, index) => ({ id: String(index), ...call })));
  return results.map(({ content }) => content.map((part) => (part.type === "text" ? part.text : `[${part.mimeType}]`)).join("\n"));
}

const users = ["alice", "bob"];
try {
  const write = (user: string) => runTurn(user, [{ name: "write", arguments: { path: "me.txt", content: `${user}'s secret\n` } }]);
  console.log(await Promise.all(users.map(write)));
  for (const user of users) {
    const [text, files] = await runTurn(user, [
      { name: "read", arguments: { path: "me.txt" } },
      { name: "bash", arguments: { command: "cat /workspace/*" } },
    ]);
    console.log(`${user}: ${text}`);
    assert.equal(text, `${user}'s secret`);
    assert.equal(files, `${user}'s secret`);
  }
  assert.equal((await fleet.list()).length, 2);
} finally {
  await Promise.all(users.map((user) => fleet.destroy(user)));
  await fleet.close();
  await provisioner.close();
}
