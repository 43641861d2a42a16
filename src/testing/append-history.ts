import { createHash } from "node:crypto";
import type { FileVerbs } from "../contract/operations.js";

/** One client's attempt to put a token into a file, as it looked from outside. Steps count up over all clients. */
export interface AppendOperation {
  readonly client: number;
  /** The real file; aliases of it are one file. */
  readonly file: string;
  /** The name it was reached by. */
  readonly alias: string;
  readonly token: string;
  readonly startedStep: number;
  readonly endedStep: number;
  /** `unknown`: it was rejected, and may have happened or not. */
  readonly outcome: "acknowledged" | "unknown";
}

export interface AppendOptions {
  /** Real files, each with the names by which clients reach it. */
  readonly files: Readonly<Record<string, readonly string[]>>;
  readonly clients: number;
  readonly operationsPerClient: number;
  /** Puts `token` and a line feed at the end of the file. Whether its rejection means "not done" is not asked. */
  append(alias: string, token: string, client: number): Promise<void>;
  /** Random numbers in [0, 1): seeded by the caller, so that a run can be repeated. */
  random(): number;
}

/** Lets clients append unique tokens side by side, each one after the other, and records what they saw. */
export async function runAppends({
  files,
  clients,
  operationsPerClient,
  append,
  random,
}: AppendOptions): Promise<readonly AppendOperation[]> {
  const names = Object.keys(files);
  const history: AppendOperation[] = [];
  let step = 0;
  const client = async (number: number): Promise<void> => {
    for (let count = 0; count < operationsPerClient; count += 1) {
      const file = pick(names, random);
      const alias = pick(files[file] ?? [], random);
      const token = `c${number}-${count}`;
      step += 1;
      const startedStep = step;
      const outcome = await append(alias, token, number).then(
        () => "acknowledged" as const,
        () => "unknown" as const,
      );
      step += 1;
      history.push({ client: number, file, alias, token, startedStep, endedStep: step, outcome });
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
  return history;
}

/**
 * What is wrong with a history, given what the files hold at the end; empty when all is well. Each acknowledged token must
 * be in its own file exactly once, an unknown one at most once, nothing else may be there, and of two acknowledged
 * operations on a file of which one had ended before the other began, the first stands first.
 */
export function checkAppends(history: readonly AppendOperation[], contents: Readonly<Record<string, string>>): readonly string[] {
  const wrong: string[] = [];
  for (const [file, content] of Object.entries(contents)) {
    const mine = new Map(history.filter((operation) => operation.file === file).map((operation) => [operation.token, operation]));
    const found = content.split("\n").filter((line) => line !== "");
    const positions = new Map<string, number>();
    for (const [position, token] of found.entries()) {
      if (!mine.has(token)) wrong.push(`${file}: "${token}" does not belong there`);
      else if (positions.has(token)) wrong.push(`${file}: ${token} is there twice`);
      else positions.set(token, position);
    }
    for (const { token, outcome } of mine.values()) {
      if (outcome === "acknowledged" && !positions.has(token)) wrong.push(`${file}: ${token} was acknowledged and is lost`);
    }
    wrong.push(...outOfOrder(file, found, mine));
  }
  for (const { file, token } of history) if (contents[file] === undefined) wrong.push(`${file}: its content is missing (${token})`);
  return wrong;
}

/** In file order, no operation may have ended before any that stands earlier began. */
function outOfOrder(file: string, found: readonly string[], operations: ReadonlyMap<string, AppendOperation>): readonly string[] {
  const wrong: string[] = [];
  let latest: AppendOperation | undefined;
  for (const token of found) {
    const operation = operations.get(token);
    if (operation === undefined || operation.outcome !== "acknowledged") continue;
    if (latest !== undefined && operation.endedStep < latest.startedStep) {
      wrong.push(`${file}: ${operation.token} had ended before ${latest.token} began, and stands behind it`);
    }
    if (latest === undefined || operation.startedStep > latest.startedStep) latest = operation;
  }
  return wrong;
}

/**
 * Appends a token by reading, and writing with `ifMatch`, again and again until it is through. Rejects with the first error
 * that is no `conflict`. A token that is there already (its answer was lost) is not put twice.
 */
export async function appendByMatch(files: Pick<FileVerbs, "readFile" | "writeFile">, path: string, token: string): Promise<void> {
  for (;;) {
    const { data } = await files.readFile(path);
    const old = Buffer.from(data);
    if (old.toString().split("\n").includes(token)) return;
    try {
      await files.writeFile(path, Buffer.concat([old, Buffer.from(`${token}\n`)]), {
        ifMatch: createHash("sha256").update(old).digest("hex"),
      });
      return;
    } catch (error) {
      if ((error as { readonly code?: string }).code !== "conflict") throw error;
    }
  }
}

function pick<Item>(items: readonly Item[], random: () => number): Item {
  return items[Math.floor(random() * items.length)] as Item;
}

/** Random numbers in [0, 1) from a seed: the same seed, the same run. */
export function seededRandom(seed: number): () => number {
  let count = 0;
  return () => {
    count += 1;
    const digest = createHash("sha256").update(`${seed}:${count}`).digest();
    return digest.readUInt32BE(0) / 2 ** 32;
  };
}
