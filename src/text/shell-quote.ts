/** `text` as one word of a POSIX shell, whatever it holds (but for NUL, which no word can). Plain words stay as they are. */
export function quoteShellWord(text: string): string {
  return /^[\w./:@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** A path as a shell word that no command takes for an option. */
export function quoteShellPath(path: string): string {
  return quoteShellWord(path.startsWith("-") ? `./${path}` : path);
}
