/**
 * One operation on a register (a file that is read, written, and written only if it holds what is expected), as it looked
 * from outside. Steps count up over all clients: `startedStep` before the call, `endedStep` after its answer.
 */
export interface RegisterOperation {
  readonly client: number;
  readonly action: RegisterAction;
  readonly startedStep: number;
  /** Infinity for an operation whose answer never came: it may take effect at any later time, or never. */
  readonly endedStep: number;
}

export type RegisterAction =
  | { readonly kind: "read"; readonly value: string }
  | { readonly kind: "write"; readonly value: string; readonly outcome: "ok" | "unknown" }
  | { readonly kind: "swap"; readonly from: string; readonly to: string; readonly outcome: "ok" | "conflict" | "unknown" };

/** Runs one operation after the other and returns what came of each. Rejections are the caller's to turn into an outcome. */
export interface RegisterClient {
  next(count: number): Promise<RegisterAction>;
}

/** Lets clients act side by side, each one after the other, and records what they saw. */
export async function runRegister(clients: readonly RegisterClient[], operationsPerClient: number): Promise<readonly RegisterOperation[]> {
  const history: RegisterOperation[] = [];
  let step = 0;
  await Promise.all(
    clients.map(async (client, number) => {
      for (let count = 0; count < operationsPerClient; count += 1) {
        step += 1;
        const startedStep = step;
        const action = await client.next(count);
        step += 1;
        const open = action.kind !== "read" && action.outcome === "unknown";
        history.push({ client: number, action, startedStep, endedStep: open ? Number.POSITIVE_INFINITY : step });
      }
    }),
  );
  return history;
}

/** Where the search is: which operations have taken effect, and what the register holds. */
interface Position {
  readonly done: bigint;
  readonly value: string;
}

/**
 * Whether some order of the operations explains the history: each takes effect at one moment between its start and its end,
 * and each answer is what a single register would have given. Exact; the search remembers where it has been (Wing and Gong,
 * with Lowe's memory), so that histories of some hundred operations with a handful of clients take milliseconds.
 */
export function isLinearizable(history: readonly RegisterOperation[], initial: string): boolean {
  const operations = [...history].sort((a, b) => a.startedStep - b.startedStep);
  const certain = operations.reduce(
    (mask, operation, index) => (Number.isFinite(operation.endedStep) ? mask | (1n << BigInt(index)) : mask),
    0n,
  );
  const seen = new Set<string>();
  const open: Position[] = [{ done: 0n, value: initial }];
  for (let position = open.pop(); position !== undefined; position = open.pop()) {
    if ((position.done & certain) === certain) return true;
    const key = `${position.done.toString(36)} ${position.value}`;
    if (seen.has(key)) continue;
    seen.add(key);
    for (const index of candidates(operations, position.done)) {
      const operation = operations[index];
      if (operation === undefined) continue;
      for (const value of valuesAfter(operation.action, position.value)) open.push({ done: position.done | (1n << BigInt(index)), value });
    }
  }
  return false;
}

/** The operations that could take effect next: not done, and started before any other that is not done has ended. */
function candidates(operations: readonly RegisterOperation[], done: bigint): readonly number[] {
  const waiting: number[] = [];
  let firstEnd = Number.POSITIVE_INFINITY;
  for (const [index, { startedStep, endedStep }] of operations.entries()) {
    if (startedStep > firstEnd) break;
    if ((done >> BigInt(index)) & 1n) continue;
    waiting.push(index);
    firstEnd = Math.min(firstEnd, endedStep);
  }
  return waiting.filter((index) => (operations[index]?.startedStep ?? 0) < firstEnd);
}

/** What the register can hold once the action has taken effect; nothing when its answer could not have been given. */
function valuesAfter(action: RegisterAction, value: string): readonly string[] {
  switch (action.kind) {
    case "read":
      return action.value === value ? [value] : [];
    case "write":
      return [action.value];
    case "swap":
      if (action.outcome === "unknown") return [action.from === value ? action.to : value];
      if (action.outcome === "ok") return action.from === value ? [action.to] : [];
      return action.from === value ? [] : [value];
  }
}
