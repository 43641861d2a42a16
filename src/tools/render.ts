import type { RenderStyle, ToolResult } from "../contract/tool.js";
import { paint } from "../text/ansi.js";
import { escapeControls, escapeLine } from "../text/escape.js";
import { formatCount, formatNumber } from "../text/format.js";

/** How much of a result people are shown at once. */
const SHOWN_LINES = 20;

/** One line that says what is called: the tool's name, then what it is called on. */
export function callLine(name: string, subject: string, { ansi }: RenderStyle): string {
  const word = paint(name, "bold", ansi);
  return subject === "" ? word : `${word} ${paint(escapeLine(subject), "cyan", ansi)}`;
}

/** A result for people: its text, escaped, its first or last 20 lines; images as a word; an error in red. */
export function showResult(result: ToolResult, { ansi }: RenderStyle, keep: "head" | "tail"): string {
  const parts = result.content.map((content) => {
    if (content.type === "image")
      return paint(`[image: ${content.mimeType}, ${formatNumber(Math.floor((content.data.length * 3) / 4))} bytes]`, "dim", ansi);
    const text = shorten(escapeControls(content.text), keep);
    return result.isError ? paint(text, "red", ansi) : text;
  });
  return parts.join("\n");
}

/** A diff made by `formatDiff`, for people: removed lines red, added ones green. */
export function showDiff(diff: string, { ansi }: RenderStyle): string {
  return escapeControls(diff)
    .split("\n")
    .map((line) => paint(line, line.startsWith("-") ? "red" : line.startsWith("+") ? "green" : "dim", ansi))
    .join("\n");
}

function shorten(text: string, keep: "head" | "tail"): string {
  const lines = text.split("\n");
  if (lines.length <= SHOWN_LINES + 1) return text;
  const left = formatCount(lines.length - SHOWN_LINES, "more line");
  return keep === "head"
    ? [...lines.slice(0, SHOWN_LINES), `... ${left}`].join("\n")
    : [`... ${left} before`, ...lines.slice(-SHOWN_LINES)].join("\n");
}
