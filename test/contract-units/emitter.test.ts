import { describe, expect, it } from "vitest";
import { createEmitter } from "../../src/contract/emitter.js";
import type { GloveboxEvent } from "../../src/contract/events.js";

const event = (target: string): GloveboxEvent => ({ type: "target_connected", target });
const name = (told: GloveboxEvent): string => (told.type === "target_connected" ? told.target : told.type);

describe("createEmitter", () => {
  it("tells every listener every event in order, at once", () => {
    const { emit, onEvent } = createEmitter();
    const told: string[] = [];
    onEvent((each) => told.push(`a${name(each)}`));
    const leave = onEvent((each) => told.push(`b${name(each)}`));
    emit(event("1"));
    leave();
    leave();
    emit(event("2"));
    expect(told).toEqual(["a1", "b1", "a2"]);
  });

  it("lets a listener that throws or rejects harm nobody", async () => {
    const { emit, onEvent } = createEmitter();
    const told: string[] = [];
    onEvent(() => {
      throw new Error("listener");
    });
    onEvent(() => Promise.reject(new Error("listener")));
    onEvent((each) => told.push(name(each)));
    for (const each of ["1", "2", "3"]) emit(event(each));
    await new Promise((resolve) => setImmediate(resolve));
    expect(told).toEqual(["1", "2", "3"]);
  });

  it("gives a slow listener one event at a time, in order, and nobody waits for it", async () => {
    const { emit, onEvent } = createEmitter();
    const told: string[] = [];
    const quick: string[] = [];
    let atWork = 0;
    onEvent(async (each) => {
      atWork += 1;
      expect(atWork).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 1));
      told.push(name(each));
      atWork -= 1;
    });
    onEvent((each) => quick.push(name(each)));
    for (const each of ["1", "2", "3"]) emit(event(each));
    expect(quick).toEqual(["1", "2", "3"]);
    await expect.poll(() => told).toEqual(["1", "2", "3"]);
  });

  it("keeps the order for everyone when a listener emits", () => {
    const { emit, onEvent } = createEmitter();
    const told: string[] = [];
    onEvent((each) => {
      if (name(each) === "1") emit(event("2"));
    });
    onEvent((each) => told.push(name(each)));
    emit(event("1"));
    expect(told).toEqual(["1", "2"]);
  });

  it("keeps a bounded number of events for a listener that never comes back", async () => {
    const { emit, onEvent } = createEmitter();
    const told: string[] = [];
    let release = (): void => {};
    onEvent((each) => {
      told.push(name(each));
      return told.length === 1 ? new Promise<void>((resolve) => (release = resolve)) : undefined;
    });
    for (let each = 0; each < 25_000; each += 1) emit(event(String(each)));
    release();
    await expect.poll(() => told.length).toBe(10_001);
    expect(told.slice(0, 2)).toEqual(["0", "15000"]);
    expect(told.at(-1)).toBe("24999");
  });

  it("tells no one who left or came later", () => {
    const { emit, onEvent } = createEmitter();
    const told: string[] = [];
    const leave = onEvent((each) => {
      told.push(name(each));
      leave();
      onEvent((later) => told.push(`later ${name(later)}`));
    });
    emit(event("1"));
    expect(told).toEqual(["1"]);
    emit(event("2"));
    expect(told).toEqual(["1", "later 2"]);
  });
});
