import { type ChildProcess, execFile, spawn } from "node:child_process";
import { findProgram } from "./programs.js";

/** "none": there was nothing to copy. "lost": not all of it could be kept. */
export type Copied = "none" | "kept" | "lost";

/** Copies what Node has no calls for. */
export interface AttributeCopier {
  /** Extended attributes, ACLs among them, of one file to another; capabilities stay behind. */
  copy(from: string, to: string): Promise<Copied>;
  /** How they are copied: "perl", "cp", or "none". */
  readonly means: "perl" | "cp" | "none";
  close(): void;
}

/** The numbers of getxattr(2), setxattr(2) and listxattr(2). */
const SYSTEM_CALLS: Readonly<Record<string, readonly [get: number, set: number, list: number]>> = {
  x64: [191, 188, 194],
  arm64: [8, 5, 11],
};

const DEADLINE_MS = 5_000;

/* One line in, `FROM TO`; one line out: none, kept or lost. 95 is ENOTSUP, 61 ENODATA. */
const PROGRAM = `
$| = 1;
my ($get, $set, $list) = map { $_ + 0 } @ARGV;
sub value { my ($path, $name) = @_; my $buffer = "\\0" x 65536;
  my $length = syscall($get, $path, $name, $buffer, 65536);
  return $length < 0 ? undef : substr($buffer, 0, $length); }
while (my $line = <STDIN>) {
  chomp $line;
  my ($from, $to) = split / /, $line;
  my ($names, $kept, $lost) = ("\\0" x 65536, 0, 0);
  my $length = syscall($list, $from, $names, 65536);
  $lost += 1 if $length < 0 && $! != 95;
  for my $name ($length > 0 ? split(/\\0/, substr($names, 0, $length)) : ()) {
    next if $name eq "security.capability";
    my $value = value($from, $name);
    if (!defined $value) { $lost += 1 if $! != 61; next; }
    my $there = value($to, $name);
    $kept += 1;
    next if defined $there && $there eq $value;
    $lost += 1 if syscall($set, $to, $name, $value, length($value), 0) != 0;
  }
  print $lost ? "lost\\n" : $kept ? "kept\\n" : "none\\n";
}
`;

/** One small process, started at the first copy, so that a write does not pay for a fork. */
export function createAttributeCopier(root: string): AttributeCopier {
  const numbers = process.platform === "linux" ? SYSTEM_CALLS[process.arch] : undefined;
  const perl = numbers && findProgram("perl", root);
  if (perl !== undefined && numbers !== undefined) return overPerl(perl, numbers.map(String));
  const cp = process.platform === "linux" ? findProgram("cp", root) : undefined;
  return cp === undefined ? { means: "none", copy: async () => "lost", close() {} } : overCp(cp);
}

/** A fork for every copy, where there is no perl. Takes GNU's cp. */
export function overCp(cp: string): AttributeCopier {
  return {
    means: "cp",
    copy: (from, to) =>
      new Promise((resolve) => {
        const args = ["--attributes-only", "--preserve=mode,xattr", "--", from, to];
        execFile(cp, args, { timeout: DEADLINE_MS, env: { LC_ALL: "C" } }, (error) => resolve(error === null ? "kept" : "lost"));
      }),
    close() {},
  };
}

function overPerl(perl: string, numbers: readonly string[]): AttributeCopier {
  let child: ChildProcess | undefined;
  const waiting: ((copied: Copied) => void)[] = [];

  const stop = (): void => {
    child?.kill("SIGKILL");
    child = undefined;
    for (const settle of waiting.splice(0)) settle("lost");
  };
  const start = (): ChildProcess => {
    const started = spawn(perl, ["-e", PROGRAM, ...numbers], { stdio: ["pipe", "pipe", "ignore"], env: { LC_ALL: "C" }, detached: true });
    let text = "";
    started.stdout?.setEncoding("latin1").on("data", (chunk: string) => {
      const lines = (text + chunk).split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) waiting.shift()?.(line === "none" || line === "kept" ? line : "lost");
    });
    const gone = (): void => {
      if (child === started) stop();
    };
    started.on("error", gone).on("exit", gone);
    started.stdin?.on("error", gone);
    return started;
  };
  /** Holds the event loop only while an answer is awaited. */
  const hold = (child: ChildProcess, on: boolean): void => {
    for (const handle of [child, child.stdin, child.stdout] as { ref?(): void; unref?(): void }[]) on ? handle.ref?.() : handle.unref?.();
  };

  return {
    means: "perl",
    copy(from, to) {
      child ??= start();
      const own = child;
      hold(own, true);
      return new Promise((resolve) => {
        const timer = setTimeout(stop, DEADLINE_MS);
        waiting.push((copied) => {
          clearTimeout(timer);
          if (waiting.length === 0) hold(own, false);
          resolve(copied);
        });
        own.stdin?.write(`${from} ${to}\n`);
      });
    },
    close: stop,
  };
}
