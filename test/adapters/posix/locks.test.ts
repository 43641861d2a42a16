import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { lockFile, lockName } from "../../../adapters/local/lock.js";
import type { GloveboxEvent } from "../../../src/contract/events.js";
import { eventually, openPosix, sleep } from "./open-posix.js";
import { shells } from "./shells.js";

const places = `/tmp/.glovebox-${process.getuid?.() ?? 0}`;
const bootId = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
const namespace = /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0];
/** No pid is that large. */
const DEAD = `${bootId}:${namespace}:4194305:1`;

beforeAll(() => {
  if (!existsSync(places)) mkdirSync(places, { mode: 0o700 });
});

describe.each(Object.entries(shells))("the lock that %s takes", (_name, shell) => {
  it("is the one that the local adapter takes, whatever the name of the file", async () => {
    const { connection, directory } = await openPosix({ shell });
    for (const name of ["plain", "100%", "%2F", "line\nfeed\n", "\u00e9\u{1F600}", "-n *", "x".repeat(250), `${"\u00e9".repeat(80)}`]) {
      const path = `${directory}/${name}`;
      const release = await lockFile(path);
      const write = connection.writeFile(path, Buffer.from(name));
      let done = false;
      void write.then(() => {
        done = true;
      });
      await sleep(150);
      expect([done, existsSync(path)], name).toEqual([false, false]);
      release();
      await write;
      expect(readFileSync(path, "utf8")).toBe(name);
      expect(existsSync(`${places}/${lockName(path)}`)).toBe(false);
    }
  });

  it("J5 is broken when its holder is dead, also while it was breaking a lock itself, and what that one left is removed", async () => {
    const { connection, directory } = await openPosix({ shell });
    const path = `${directory}/a`;
    writeFileSync(`${directory}/.glovebox-tmp-4194305-1-0123456789abcdef`, "half");
    writeFileSync(`${directory}/.glovebox-tmp-1-1-0123456789abcdef`, "another's");
    symlinkSync(DEAD, `${places}/${lockName(path)}`);
    symlinkSync(DEAD, `${places}/${lockName(path)}.break`);
    await connection.writeFile(path, Buffer.from("x"));
    expect(readdirSync(directory).sort()).toEqual([".glovebox-tmp-1-1-0123456789abcdef", "a"]);
    expect(readdirSync(places).filter((name) => name.startsWith(lockName(path)))).toEqual([]);
  });

  it("is left alone when its holder lives elsewhere or cannot be told, and the write is busy in the end", async () => {
    const { connection, directory } = await openPosix({ shell });
    for (const [index, owner] of [`${bootId}:1:4194305:1`, "somebody", `${bootId}:${namespace}:1:${startOf(1)}`].entries()) {
      const path = `${directory}/${index}`;
      symlinkSync(owner, `${places}/${lockName(path)}`);
      const outcome = await Promise.race([
        connection.writeFile(path, Buffer.from("x")).then(() => "written"),
        sleep(700).then(() => "waiting"),
      ]);
      expect(outcome).toBe("waiting");
      expect(readlinkSync(`${places}/${lockName(path)}`)).toBe(owner);
      unlinkSync(`${places}/${lockName(path)}`);
    }
  });
});

describe("a connection", () => {
  it("L17 sweeps the locks of the dead when it begins, and the files that they were writing", async () => {
    const { directory } = await openPosix();
    const path = `${directory}/odd %2F name\n`;
    writeFileSync(`${directory}/.glovebox-tmp-4194305-1-0123456789abcdef`, "half");
    symlinkSync(DEAD, `${places}/${lockName(path)}`);
    symlinkSync(`another-boot:${namespace}:1:1`, `${places}/${lockName(`${directory}/b`)}`);
    symlinkSync(`${bootId}:1:4194305:1`, `${places}/${lockName(`${directory}/c`)}`);
    const events: GloveboxEvent[] = [];
    await openPosix({ onEvent: (event) => events.push(event) });
    await eventually("they are gone", () => readdirSync(directory).length === 0 && !existsSync(`${places}/${lockName(`${directory}/b`)}`));
    // Any other connection may have been quicker.
    for (const event of events) expect(event).toMatchObject({ type: "target_swept", target: "test:local" });
    expect(
      [path, `${directory}/b`, `${directory}/c`].map(
        (each) => lstatSync(`${places}/${lockName(each)}`, { throwIfNoEntry: false }) === undefined,
      ),
    ).toEqual([true, true, false]);
    unlinkSync(`${places}/${lockName(`${directory}/c`)}`);
  });
});

function startOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}
