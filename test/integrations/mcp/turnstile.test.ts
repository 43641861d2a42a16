import { describe, expect, it } from "vitest";
import { createTurnstile } from "../../../src/integrations/mcp/turnstile.js";

const never = new AbortController().signal;

/** Enters calls one after the other and tells which of them have started. */
function visitors() {
  const turnstile = createTurnstile();
  const started: string[] = [];
  const leave = new Map<string, () => void>();
  return {
    turnstile,
    async come(name: string, environmentId: string | undefined, alone: boolean, signal: AbortSignal = never): Promise<void> {
      void turnstile.enter({ environmentId, alone }, signal).then((done) => {
        started.push(name);
        leave.set(name, done);
      });
      await turn();
    },
    async go(name: string): Promise<void> {
      leave.get(name)?.();
      await turn();
    },
    get started() {
      return started.join(" ");
    },
  };
}

async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe("the turnstile", () => {
  it("lets calls run together that do not exclude each other", async () => {
    const line = visitors();
    await line.come("a", "web", false);
    await line.come("b", "web", false);
    await line.come("c", "box", true);
    expect(line.started).toBe("a b c");
  });

  it("lets a lone call wait for those before it, and those behind it wait for it", async () => {
    const line = visitors();
    await line.come("a", "web", false);
    await line.come("lone", "web", true);
    await line.come("b", "web", false);
    await line.come("elsewhere", "box", false);
    expect(line.started).toBe("a elsewhere");
    await line.go("a");
    expect(line.started).toBe("a elsewhere lone");
    await line.go("lone");
    expect(line.started).toBe("a elsewhere lone b");
  });

  it("gives a lone call of no environment everything to itself", async () => {
    const line = visitors();
    await line.come("a", "web", false);
    await line.come("lone", undefined, true);
    await line.come("b", "box", false);
    expect(line.started).toBe("a");
    await line.go("a");
    expect(line.started).toBe("a lone");
    await line.go("lone");
    expect(line.started).toBe("a lone b");
  });

  it("lets a call that gives up waiting hold nobody back", async () => {
    const line = visitors();
    const controller = new AbortController();
    await line.come("a", "web", false);
    await line.come("lone", "web", true, controller.signal);
    await line.come("b", "web", false);
    controller.abort();
    await turn();
    expect(line.started).toBe("a b lone");
    for (const name of ["lone", "a", "b"]) await line.go(name);
    expect(line.turnstile.size).toBe(0);
  });

  it("keeps lone calls in the order in which they came", async () => {
    const line = visitors();
    for (const name of ["a", "b", "c"]) await line.come(name, "web", true);
    expect(line.started).toBe("a");
    await line.go("a");
    await line.go("b");
    expect(line.started).toBe("a b c");
  });
});
