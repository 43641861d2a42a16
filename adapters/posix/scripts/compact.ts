/** A script as it travels: without comments, indentation and empty lines, which only cost the target's `read` time. */
export function compact(script: string): string {
  return script
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .join("\n");
}
