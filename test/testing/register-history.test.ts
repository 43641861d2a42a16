import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/memory/index.js";
import type { Environment } from "../../src/contract/target.js";
import { openEnvironment } from "../../src/environment.js";
import {
  faults,
  isLinearizable,
  type RegisterAction,
  type RegisterClient,
  type RegisterOperation,
  runRegister,
  seededRandom,
} from "../../src/testing/index.js";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const codeOf = (error: unknown): string | undefined => (error as { readonly code?: string }).code;

function clientOf(environment: Environment, number: number): RegisterClient {
  const random = seededRandom(number);
  const value = (): string => `v${Math.floor(random() * 3)}`;
  const write = (text: string, expected?: string) =>
    environment.writeFile("register", Buffer.from(text), expected === undefined ? {} : { ifMatch: sha256(expected) }).then(
      () => "ok" as const,
      (error: unknown) => (codeOf(error) === "conflict" ? ("conflict" as const) : ("unknown" as const)),
    );
  return {
    async next(): Promise<RegisterAction> {
      const chance = random();
      if (chance < 0.4) {
        const read = await environment.readFile("register").catch(() => undefined);
        return read === undefined
          ? { kind: "swap", from: "never", to: "never", outcome: "unknown" }
          : { kind: "read", value: Buffer.from(read.data).toString() };
      }
      const to = value();
      if (chance < 0.6) return { kind: "write", value: to, outcome: (await write(to)) === "ok" ? "ok" : "unknown" };
      const from = value();
      return { kind: "swap", from, to, outcome: await write(to, from) };
    },
  };
}

async function record(layers: Parameters<typeof openEnvironment>[1] = {}): Promise<readonly RegisterOperation[]> {
  const target = memory({ files: { register: "v0" } });
  const environments = await Promise.all(Array.from({ length: 5 }, () => openEnvironment(target, layers)));
  const history = await runRegister(
    environments.map((environment, index) => {
      environment.delay("writeFile", index % 2);
      return clientOf(environment, index);
    }),
    60,
  );
  await Promise.all(environments.map((environment) => environment.close()));
  return history;
}

describe("J2 register with compare and swap", () => {
  it("a history on memory is linearizable", async () => {
    const history = await record();
    expect(history.length).toBe(300);
    expect(isLinearizable(history, "v0")).toBe(true);
    const read = history.findIndex(({ action }) => action.kind === "read");
    expect(
      isLinearizable(history.with(read, { ...history[read], action: { kind: "read", value: "never" } } as RegisterOperation), "v0"),
    ).toBe(false);
  });

  it("also when answers are lost", async () => {
    const random = seededRandom(99);
    const chaos = faults(() => (random() < 0.02 ? { cut: "unknown_outcome" } : undefined));
    const history = await record({ layers: [chaos] });
    expect(history.some(({ endedStep }) => endedStep === Number.POSITIVE_INFINITY)).toBe(true);
    expect(isLinearizable(history, "v0")).toBe(true);
  });

  const operation = (action: RegisterAction, startedStep: number, endedStep: number): RegisterOperation => ({
    client: 0,
    action,
    startedStep,
    endedStep,
  });
  const read = (value: string, from: number, to: number) => operation({ kind: "read", value }, from, to);
  const write = (value: string, from: number, to: number) => operation({ kind: "write", value, outcome: "ok" }, from, to);
  const swap = (from: string, to: string, outcome: "ok" | "conflict" | "unknown", startedStep: number, endedStep: number) =>
    operation({ kind: "swap", from, to, outcome }, startedStep, endedStep);

  it("a read sees the last write that ended before it, or one that overlaps it", () => {
    expect(isLinearizable([write("b", 1, 2), read("b", 3, 4)], "a")).toBe(true);
    expect(isLinearizable([write("b", 1, 2), read("a", 3, 4)], "a")).toBe(false);
    expect(isLinearizable([write("b", 1, 4), read("a", 2, 3)], "a")).toBe(true);
    expect(isLinearizable([write("b", 1, 6), read("b", 2, 3), read("a", 4, 5)], "a")).toBe(false);
  });

  it("of two swaps from one value only one can win", () => {
    expect(isLinearizable([swap("a", "b", "ok", 1, 4), swap("a", "c", "conflict", 2, 3)], "a")).toBe(true);
    expect(isLinearizable([swap("a", "b", "ok", 1, 4), swap("a", "c", "ok", 2, 3)], "a")).toBe(false);
    expect(isLinearizable([swap("a", "b", "conflict", 1, 2)], "a")).toBe(false);
  });

  it("a lost answer may have happened, late or never, but not before it began", () => {
    const lost = swap("a", "b", "unknown", 3, Number.POSITIVE_INFINITY);
    expect(isLinearizable([lost, read("b", 4, 5)], "a")).toBe(true);
    expect(isLinearizable([lost, read("a", 4, 5), read("b", 6, 7)], "a")).toBe(true);
    expect(isLinearizable([lost, read("a", 4, 5)], "a")).toBe(true);
    expect(isLinearizable([read("b", 1, 2), lost], "a")).toBe(false);
    expect(isLinearizable([lost, read("b", 4, 5), read("a", 6, 7)], "a")).toBe(false);
  });
});
