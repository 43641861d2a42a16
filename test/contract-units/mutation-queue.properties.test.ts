import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mutationKeysInUse, withMutationKeys } from "../../src/contract/mutation-queue.js";
import { Type } from "../../src/contract/schema.js";
import { bindTool, defineTool, withFileMutationQueue } from "../../src/contract/tool.js";

interface Job {
  readonly keys: readonly string[];
  readonly turns: number;
  readonly fails: boolean;
  readonly abortAfter: number | undefined;
  readonly inside: readonly Job[];
}

const keys = fc.subarray(["a", "b", "c", "d"], { minLength: 1, maxLength: 3 });
const { job } = fc.letrec<{ job: Job; leaf: Job }>((tie) => ({
  leaf: fc.record({
    keys,
    turns: fc.nat(3),
    fails: fc.boolean(),
    abortAfter: fc.option(fc.nat(6), { nil: undefined }),
    inside: fc.constant([]),
  }),
  job: fc.record({
    keys,
    turns: fc.nat(3),
    fails: fc.boolean(),
    abortAfter: fc.option(fc.nat(6), { nil: undefined }),
    inside: fc.array(fc.oneof({ maxDepth: 2 }, tie("leaf"), tie("job")), { maxLength: 2 }),
  }),
}));

describe("any jobs, nested, failing and aborted", () => {
  it("never overlap on a key but with those around them, all settle, and leave nothing behind", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(job, { minLength: 2, maxLength: 6 }), async (jobs) => {
        const running = new Map<string, readonly number[]>();
        const strangers: string[] = [];
        let count = 0;
        const run = async ({ keys, turns, fails, abortAfter, inside }: Job, around: readonly number[]): Promise<void> => {
          count += 1;
          const mine = [...around, count];
          const controller = new AbortController();
          const body = async (): Promise<void> => {
            const before = new Map(keys.map((key) => [key, running.get(key)]));
            // Whoever runs on one of our keys must be a job that we were started in.
            for (const [key, path] of before) {
              if (path?.some((id, depth) => mine[depth] !== id)) strangers.push(`${mine.join(".")} meets ${path.join(".")} on ${key}`);
            }
            for (const key of keys) running.set(key, mine);
            for (let index = 0; index < turns; index += 1) await turn();
            await Promise.allSettled(inside.map((each) => run(each, mine)));
            for (const [key, path] of before) {
              if (path === undefined) running.delete(key);
              else running.set(key, path);
            }
            if (fails) throw new Error("as told");
          };
          const result = withMutationKeys(keys, body, { signal: controller.signal });
          result.catch(() => undefined);
          if (abortAfter !== undefined) {
            for (let index = 0; index < abortAfter; index += 1) await turn();
            controller.abort();
          }
          await result;
        };
        const settled = await Promise.allSettled(jobs.map((each) => run(each, [])));
        for (const each of settled) {
          if (each.status === "fulfilled") continue;
          const reason = each.reason as Error & { code?: string };
          expect(reason.message === "as told" || reason.code === "aborted" || reason.code === "busy").toBe(true);
        }
        expect(strangers).toEqual([]);
        expect(mutationKeysInUse()).toBe(0);
      }),
      { numRuns: 150 },
    );
  });
});

/** A file system of a map, whose directory `/alias` is another name of `/real`; reads and writes take a while. */
function tinyOperations() {
  const files = new Map<string, string>();
  const canonical = (path: string) =>
    path
      .split("/")
      .filter((part) => part !== "" && part !== ".")
      .join("/")
      .replace(/^alias\//, "real/");
  return {
    id: "tiny",
    cwd: "/",
    mutationKey: (path: string) => `tiny:${canonical(path)}`,
    async read(path: string): Promise<string> {
      await turn();
      return files.get(canonical(path)) ?? "";
    },
    async write(path: string, text: string): Promise<void> {
      await turn();
      files.set(canonical(path), text);
    },
  };
}

const append = defineTool({
  name: "append",
  label: "append",
  description: "Adds a token to a file.",
  effect: "write",
  parameters: Type.Object({ path: Type.String(), token: Type.String() }),
  promptSnippet: "adds a token",
  promptGuidelines: [],
  writes: ({ path }) => [path],
  async run({ path, token }, { operations }: { operations: Pick<ReturnType<typeof tinyOperations>, "read" | "write"> }) {
    await operations.write(path, `${await operations.read(path)}${token}\n`);
    return { content: [], isError: false };
  },
});

describe("J1 list-append in one process", () => {
  it("keeps every acknowledged token once, in an order that real time allows", async () => {
    const operations = tinyOperations();
    // Two wrappings of one target: the queue is the process's, not the tool's.
    const tools = [bindTool(append, operations), bindTool(append, { ...operations })];
    const names = ["/real/a", "/alias/a", "/real/./a", "//alias//a", "/real/b", "/alias/./b"];
    const acknowledged: { token: string; file: string; begin: number; end: number }[] = [];
    let clock = 0;
    const client = async (number: number): Promise<void> => {
      for (let index = 0; index < 30; index += 1) {
        const path = names[(number * 7 + index * 5) % names.length] ?? "/real/a";
        const token = `${number}.${index}`;
        const begin = clock++;
        const options = { id: token, signal: new AbortController().signal, onUpdate: () => undefined };
        if (index % 10 === 9) {
          await withFileMutationQueue(operations, path, async () => operations.write(path, `${await operations.read(path)}${token}\n`));
        } else {
          await tools[index % 2]?.execute({ path, token }, options);
        }
        acknowledged.push({ token, file: path.slice(-1), begin, end: clock++ });
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, number) => client(number)));
    for (const file of ["a", "b"]) {
      const tokens = (await operations.read(`/real/${file}`)).trimEnd().split("\n");
      const mine = acknowledged.filter((each) => each.file === file);
      expect([...tokens].sort()).toEqual(mine.map(({ token }) => token).sort());
      const position = new Map(tokens.map((token, index) => [token, index]));
      for (const one of mine) {
        for (const other of mine) {
          if (one.end < other.begin) expect(position.get(one.token)).toBeLessThan(position.get(other.token) ?? -1);
        }
      }
    }
    expect(mutationKeysInUse()).toBe(0);
  });
});
