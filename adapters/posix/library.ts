import type { TargetFacts } from "./facts.js";
import { quote } from "./quote.js";
import { compact } from "./scripts/compact.js";
import { FRAMES, LOOP, SETTINGS } from "./scripts/frames.js";
import { ENTRIES_BY_FIND, ENTRIES_BY_GLOB, LIST, STAT_BY_LS, STAT_BY_STAT } from "./scripts/list.js";
import { LOCK, SWEEP } from "./scripts/lock.js";
import { PROBE } from "./scripts/probe.js";
import { ENDING, PROCESSES } from "./scripts/processes.js";
import { READ, TIMES_BY_LS, TIMES_BY_STAT } from "./scripts/read.js";
import { RESOLVE } from "./scripts/resolve.js";
import { SEARCH } from "./scripts/search.js";
import { SPARE } from "./scripts/spare.js";
import { ATTRIBUTES_BY_COPY, ATTRIBUTES_BY_STAT, UPLOAD, WRITE } from "./scripts/write.js";

/** What a lane must know of its connection. */
export interface LanePlace {
  /** 15 hexadecimal digits: names what the connection keeps on the target. */
  readonly connectionId: string;
  /** What all run tags of the connection begin with. */
  readonly tagPrefix: string;
  readonly root?: string;
  readonly spoolDirectory: string;
  readonly durable: boolean;
  readonly hardLinks: "refuse" | "break";
}

/** The script of the first lane, which can only tell what the target has. Knowing it, `laneVariant` makes it whole. */
export function firstLaneScript(): string {
  return compact(`${SETTINGS}${FRAMES}${RESOLVE}${LOCK}${PROCESSES}${ENDING}
    T= R= S= CONN= TAG= Z= ref= old= ud=
    load() { eval "$1"; z ok "$$" "$ST"; }
    ${PROBE}${LOOP}`);
}

/** The script of a further lane. */
export function laneScript(facts: TargetFacts, place: LanePlace): string {
  return compact(`${SETTINGS}${FRAMES}${RESOLVE}${LOCK}${PROCESSES}${ENDING}
    hello() { z ok "$$" "$ST"; }
    ${laneVariant(facts, place)}${LOOP}`);
}

/** What differs between targets and connections. */
export function laneVariant(facts: TargetFacts, place: LanePlace): string {
  const { privateDirectory = "" } = facts;
  return compact(`
    T=${quote(privateDirectory)} R=${quote(place.root === "/" ? "" : (place.root ?? ""))} S=${quote(place.spoolDirectory)}
    CONN=${place.connectionId} TAG=${quote(place.tagPrefix)}
    BOOT=${quote(facts.bootId)} NS=${facts.pidNamespace}
    ME=${facts.uid}:${facts.gid} D=${place.durable ? 1 : ""} LINKS=${place.hardLinks === "break" ? 1 : ""}
    SHA=${quote(facts.hasher ?? "false")} Z=${facts.grepZ ? "z" : ""} MT=${facts.mvT ? "-T" : ""}
    start_of "$$"
    ST=\${s_:-0} O=$BOOT:$NS:$$:\${s_:-0} ref= old= ud= j_=
    if [ -n "$T" ]; then
      ref=$T/lane-$CONN-$NS-$$-$ST
      true >"$ref" || ref=
      [ -z "$ref" ] || [ -z "$BASH_VERSION" ] || { old=$ref.old; true >"$old"; }
    fi
    ${READ}${facts.stat ? TIMES_BY_STAT : TIMES_BY_LS}
    ${WRITE}${UPLOAD}${SWEEP}${facts.stat ? ATTRIBUTES_BY_STAT : ATTRIBUTES_BY_COPY}
    ${LIST}${facts.findPrintf ? ENTRIES_BY_FIND : ENTRIES_BY_GLOB}${facts.stat ? STAT_BY_STAT : STAT_BY_LS}
    ${SEARCH}${exactReader(facts)}${flusher(facts)}
  `);
}

/** The script of a spare shell, which waits for one command. */
export function spareScript(
  facts: TargetFacts,
  place: LanePlace,
  options: { readonly shell: string; readonly marker: string; readonly tag: string },
): string {
  return compact(`
    [ -z "$BASH_VERSION" ] || set +o posix
    unset IFS CDPATH
    T=${quote(facts.privateDirectory ?? "")} CONN=${place.connectionId} Z=${facts.grepZ ? "z" : ""}
    SETSID=${facts.programs.has("setsid") ? "setsid" : ""} SH=${quote(options.shell)}
    private() { [ -d "$T" ] || mkdir -m 700 -- "$T"; [ -O "$T" ] && [ ! -h "$T" ]; }
    ${PROCESSES}${SPARE}
    spare ${options.marker} ${options.tag}`);
}

/** `dd $DDA$n $DDB` takes exactly n bytes off a stream, in the way that the probe found to work. */
function exactReader({ dd, ddFsync }: TargetFacts): string {
  const [before, after] = dd.includes("fullblock")
    ? ["bs=", "count=1 iflag=fullblock"]
    : [dd.startsWith("ibs") ? "ibs=1 obs=65536 count=" : "bs=1 count=", ""];
  return `
    DDA=${quote(before)} DDB=${quote(after)} BYTEWISE=${after === "" ? 1 : ""} FSYNC=${ddFsync ? "conv=fsync" : ""}
    [ -n "$D" ] || FSYNC=
  `;
}

/** `flush FILE`: to the disk with it. */
function flusher({ syncFile }: TargetFacts): string {
  return syncFile ? 'flush() { e=$(sync "$1" 2>&1); }\n' : "flush() { e=$(sync 2>&1); }\n";
}
