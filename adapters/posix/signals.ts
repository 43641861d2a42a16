/** Linux's numbers, in order from 1. */
const NAMES = (
  "HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ " +
  "VTALRM PROF WINCH IO PWR SYS"
).split(" ");

/** `SIGKILL` for 9; `SIG35` for one without a name. */
export function signalName(number: number): string {
  return `SIG${NAMES[number - 1] ?? number}`;
}
