import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/memory/index.js";
import { openEnvironment } from "../../src/environment.js";
import { limit } from "../../src/layers/limit.js";

const gate = () => {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
};

describe("limit", () => {
  it("runs so many calls at once, the rest in order", async () => {
    let atOnce = 0;
    let most = 0;
    const order: string[] = [];
    const target = memory({
      exec: async ({ command }) => {
        atOnce += 1;
        most = Math.max(most, atOnce);
        order.push(command);
        await new Promise((resolve) => setTimeout(resolve, 2));
        atOnce -= 1;
        return { exitCode: command === "3" ? 1 : 0 };
      },
    });
    const environment = await openEnvironment(target, { layers: [limit({ commands: 2 })] });
    const commands = Array.from({ length: 7 }, (_, index) => String(index));
    await Promise.all(commands.map((command) => environment.exec(command)));
    expect(most).toBe(2);
    expect(order).toEqual(commands);
  });

  it("gives the place of a failed call to the next", async () => {
    const environment = await openEnvironment(memory({ files: { a: "x" } }), { layers: [limit({ others: 1 })] });
    const calls = await Promise.allSettled([
      environment.stat("none"),
      environment.stat("a"),
      environment.stat("none"),
      environment.stat("a"),
    ]);
    expect(calls.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "rejected", "fulfilled"]);
  });

  it("lets one that is aborted leave the line at once, and never runs it", async () => {
    const { open, opened } = gate();
    const ran: string[] = [];
    const target = memory({
      exec: async ({ command }) => {
        ran.push(command);
        await opened;
        return {};
      },
    });
    const environment = await openEnvironment(target, { layers: [limit({ commands: 1 })] });
    const abort = new AbortController();
    const first = environment.exec("first");
    const second = environment.exec("second", { signal: abort.signal });
    const third = environment.exec("third");
    abort.abort();
    await expect(second).rejects.toMatchObject({ code: "aborted", retrySafe: true });
    await expect(environment.exec("fourth", { signal: abort.signal })).rejects.toMatchObject({ code: "aborted" });
    open();
    await Promise.all([first, third]);
    expect(ran).toEqual(["first", "third"]);
  });

  it("does not let a command wait for the write of its own output", async () => {
    const environment = await openEnvironment(memory({ exec: () => ({ stdout: "long", exitCode: 0 }) }), {
      layers: [limit({ commands: 1, others: 1 })],
    });
    const onOutput = async (chunk: Uint8Array): Promise<void> => void (await environment.writeFile("spooled", chunk));
    expect(await environment.exec("print", { onOutput })).toEqual({ exitCode: 0 });
  });
});
