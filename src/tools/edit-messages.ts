import type { EditProblem, Replacement } from "../text/edits.js";
import { escapeLine, quoteName } from "../text/escape.js";
import type { Fold } from "../text/fold.js";
import { formatCount, formatList } from "../text/format.js";

/** Why a file was left as it is, one line for each problem, each with what to do about it. `edits` is how many there were. */
export function problemText(path: string, problems: readonly EditProblem[], edits: number): string {
  const name = quoteName(path);
  if (problems.length === 1 && problems[0]?.kind === "no_change") {
    return `No change: the new text is what ${name} holds already, so it was not touched. Send text that differs, or go on.`;
  }
  const lines = problems.map((problem) => describeProblem(problem, edits));
  return [
    `${name} was not changed: ${lines.length === 1 ? lines[0] : `${formatCount(lines.length, "problem")}.`}`,
    ...(lines.length === 1 ? [] : lines),
  ].join("\n");
}

/** What was done, and for each inexact match what it overlooked. */
export function successText(path: string, replacements: readonly Replacement[], added: number, removed: number): string {
  const lines = [...new Set(replacements.map(({ line }) => line))].slice(0, 20).map(String);
  const where = `${lines.length === 1 ? "line" : "lines"} ${formatList(lines)}${replacements.length > 20 ? " and more" : ""}`;
  const done = `Edited ${quoteName(path)}: ${formatCount(replacements.length, "replacement")} at ${where} (+${added} -${removed}).`;
  const inexact = replacements.filter(({ folds }) => folds.length > 0).sort((one, other) => one.edit - other.edit);
  const notes = inexact.map(({ edit, line, folds }) =>
    onlyEndings(folds)
      ? `edits[${edit}] matched line ${line} but for its line endings; the file's own were kept.`
      : `edits[${edit}] matched line ${line} only when differences in ${formatList(folds)} were overlooked.`,
  );
  const doubtful = inexact.some(({ folds }) => !onlyEndings(folds));
  return [done, ...notes, ...(doubtful ? ["Read these lines if that may not be what you meant."] : [])].join("\n");
}

function onlyEndings(folds: readonly Fold[]): boolean {
  return folds.every((fold) => fold === "line endings");
}

function describeProblem(problem: EditProblem, edits: number): string {
  switch (problem.kind) {
    case "empty":
      return `${oldTextOf(problem.edit, edits)} is empty. Give the text to replace; to fill a file from nothing use write.`;
    case "blank":
      return `${oldTextOf(problem.edit, edits)} is only blanks and is not in the file exactly so. Include text around it.`;
    case "not_found": {
      const what = `${oldTextOf(problem.edit, edits)} was not found.`;
      const { closest } = problem;
      if (closest === undefined) return `${what} No line is like its first one. Read the file and copy the text as it is.`;
      return `${what} The line most like its first one is line ${closest.line}: ${escapeLine(closest.text)}\nRead the file there and copy the text as it is.`;
    }
    case "several": {
      const { lines, count, exact } = problem;
      const more = count > lines.length ? " and more" : "";
      const how = exact ? "" : " inexactly (never exactly)";
      return `${oldTextOf(problem.edit, edits)} was found ${count} times${how}, at ${lines.length === 1 ? "line" : "lines"} ${formatList(lines.map(String))}${more}. Include more of the text around the one you mean.`;
    }
    case "overlap":
      return `edits[${problem.edit}] and edits[${problem.other}] overlap at line ${problem.line}. Join them into one edit.`;
    case "no_change":
      return "The edits change nothing.";
  }
}

function oldTextOf(edit: number, edits: number): string {
  return edits === 1 ? "oldText" : `oldText of edits[${edit}]`;
}
