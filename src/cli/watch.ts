import { sleep } from "../fleet/patience.js";

/** What is drawn on: standard output, if it is a terminal. */
export interface Screen {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

const HOME = "\u001b[H";
const CLEAR = "\u001b[2J";
const CLEAR_LINE_END = "\u001b[K";
const CLEAR_BELOW = "\u001b[J";
const HIDE_CURSOR = "\u001b[?25l";
const SHOW_CURSOR = "\u001b[?25h";

/**
 * Draws what `frame` resolves to, over and over, each over the last, cut to the screen's size; until the signal fires. The
 * first frame's failure is the caller's; a later one is shown, and drawing goes on.
 */
export async function watch(screen: Screen, frame: () => Promise<string>, intervalMs: number, signal: AbortSignal): Promise<void> {
  let text = await frame();
  screen.write(`${HIDE_CURSOR}${CLEAR}`);
  try {
    while (!signal.aborted) {
      screen.write(cropped(text, screen));
      await sleep(intervalMs, signal);
      if (signal.aborted) return;
      text = await frame().catch((error: unknown) => `${(error as Error).message}\n`);
    }
  } finally {
    screen.write(SHOW_CURSOR);
  }
}

function cropped(text: string, screen: Screen): string {
  // Some terminals say 0 for what they do not know.
  const columns = screen.columns || 80;
  const rows = screen.rows || 24;
  const lines = text.trimEnd().split("\n");
  const shown = lines.length < rows ? lines : [...lines.slice(0, rows - 2), `… ${lines.length - rows + 2} more`];
  return `${HOME}${shown.map((line) => `${line.slice(0, columns)}${CLEAR_LINE_END}\n`).join("")}${CLEAR_BELOW}`;
}
