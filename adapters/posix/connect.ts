import { randomBytes } from "node:crypto";
import { setMaxListeners } from "node:events";
import { abortError, GloveboxError } from "../../src/contract/errors.js";
import { capabilitiesOf, describe, execRefusal, writeRefusal } from "./describe.js";
import { exec } from "./exec.js";
import { openFirstLane } from "./first-lane.js";
import { killRun } from "./kill.js";
import { createLanePool } from "./lane-pool.js";
import { laneScript, spareScript } from "./library.js";
import { readdir, realpath, stat } from "./list.js";
import { newMarker } from "./marker.js";
import type { PosixConnection, PosixOptions } from "./options.js";
import { readFile } from "./read.js";
import { wordsOf } from "./reply.js";
import { searchVerbs } from "./search.js";
import { BOOT } from "./sh-lane.js";
import { openSpare } from "./spare.js";
import { createSpares } from "./spares.js";
import type { Transport } from "./transport.js";
import { writeFile } from "./write.js";

const MAX_READ_BYTES = 256 * 1024 * 1024;
/** Stale locks looked at when a connection begins. */
const MAX_SWEPT_LOCKS = 100;
/** For everything that still runs to die when the connection closes. */
const CLOSE_MS = 15_000;

/**
 * All verbs over a transport: one round trip each. Costs the start of one process and two round trips. Takes the transport
 * over: closing the connection closes it. Rejects as `transport.start` does, and `unsupported` where no POSIX sh answers,
 * `not_found` or `not_directory` for a bad `cwd` or `root`; the transport is the caller's to close then.
 */
export async function connectPosix(transport: Transport, options: PosixOptions = {}): Promise<PosixConnection> {
  const {
    shell = ["sh"],
    maxReadBytes = MAX_READ_BYTES,
    maxFileLanes = 3,
    maxBusyLanes = 4,
    spareLanes = 1,
    maxSpareLanes = spareLanes,
    env = {},
    onEvent,
    signal,
  } = options;
  const { label } = transport;
  if (signal?.aborted) throw abortError(signal, { retrySafe: true });
  const { lane, identity, facts, place, cwd, root, home } = await openFirstLane(transport, shell, options);
  const lanes = createLanePool(
    {
      transport,
      shell,
      maxFileLanes,
      maxBusyLanes,
      script: () => laneScript(facts, place),
      onLost: ({ message }) => {
        spares.renew();
        onEvent?.({ type: "target_lost", target: label, message });
      },
      onRestored: () => onEvent?.({ type: "target_restored", target: label }),
    },
    { lane, identity },
  );
  const { connectionId, tagPrefix, spoolDirectory, durable } = place;
  const closing = new AbortController();
  // One listener for each command under way.
  setMaxListeners(0, closing.signal);
  const running = new Set<Promise<unknown>>();
  const noExec = execRefusal(facts);
  const noWrite = writeRefusal(facts);

  const spares = createSpares(
    async () => {
      const marker = newMarker();
      const tag = `${tagPrefix}${randomBytes(2).toString("hex").slice(1)}-${randomBytes(6).toString("hex")}`;
      const process = await transport.start([...shell, "-c", BOOT, "glovebox"], { purpose: "command" });
      return await openSpare(process, spareScript(facts, place, { shell: shell.join(" "), marker, tag }), { marker, tag });
    },
    noExec === undefined ? { least: spareLanes, most: Math.max(spareLanes, maxSpareLanes) } : { least: 0, most: 0 },
  );
  const execContext = {
    spares,
    cwd,
    env,
    commandShell: facts.programs.has("bash") ? "bash" : shell.join(" "),
    dd: facts.dd,
    filePrefix: `${facts.privateDirectory}/run-${connectionId}-`,
    countOutOfMemory: options.countOutOfMemory ?? false,
    sessions: facts.programs.has("setsid"),
    kill: (run: { readonly group: number; readonly tag: string }) => killRun(lanes, run),
    ...(noExec && { refused: noExec }),
    closing: closing.signal,
  };
  const writeContext = { lanes, canHash: facts.hasher !== undefined, ...(noWrite && { refused: noWrite }) };
  const roots = root === undefined || root === "/" ? [] : [root, spoolDirectory];

  void lanes.call({ verb: "sweep", arguments: [MAX_SWEPT_LOCKS], maxReplyBytes: 1024, idleMs: 60_000 }, { repeat: true }).then(
    ([frame]) => {
      const words = frame && wordsOf(frame);
      const removed = words?.first === "ok" ? words.number() : 0;
      if (removed > 0)
        onEvent?.({ type: "target_swept", target: label, removed, what: "locks and half-written files of processes that are gone" });
    },
    () => undefined,
  );

  let closed: Promise<void> | undefined;
  async function close(): Promise<void> {
    closing.abort();
    spares.close();
    if (facts.privateDirectory !== undefined) {
      await lanes
        .call({ verb: "close_all", arguments: [], maxReplyBytes: 1024, idleMs: CLOSE_MS }, { repeat: true })
        .catch(() => undefined);
    }
    await Promise.allSettled(running);
    await lanes.close();
    await transport.close();
  }

  return {
    id: transport.id,
    cwd,
    ...(root === undefined ? {} : { root }),
    ...(home === undefined ? {} : { home }),
    spoolDirectory,
    facts,
    capabilities: capabilitiesOf(facts, { root, durable }),
    readFile: (path, readOptions) => readFile(lanes, path, maxReadBytes, readOptions),
    writeFile: (path, data, writeOptions) => writeFile(writeContext, path, data, writeOptions),
    stat: (path, statOptions) => stat(lanes, path, statOptions),
    readdir: (path, listOptions) => readdir(lanes, path, listOptions),
    realpath: (path, pathOptions) => realpath(lanes, roots, path, pathOptions),
    exec: (command, execOptions) => {
      if (closing.signal.aborted)
        return Promise.reject(new GloveboxError("gone", `The connection to ${label} is closed. Open a new one.`, { retrySafe: true }));
      const run = exec(execContext, command, execOptions);
      running.add(run);
      run.then(
        () => running.delete(run),
        () => running.delete(run),
      );
      return run;
    },
    ...searchVerbs(lanes, facts, place),
    describe: async () => describe(facts, { label, root, durable }),
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}
