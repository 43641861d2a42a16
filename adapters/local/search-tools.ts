import { type Fd, isInRepository, probeFd } from "./fd.js";
import { findProgram } from "./programs.js";

/** The search tools of this machine that are good enough. */
export interface SearchTools {
  readonly ripgrep?: string;
  readonly fd?: Fd;
}

/* Asked once per process and program: a connection should not cost a fork. */
const probed = new Map<string, Promise<Fd | undefined>>();

/** ripgrep and fd (Debian calls it fdfind), where they are installed outside the root and keep .gitignore's rules in it. */
export async function findSearchTools(root: string): Promise<SearchTools> {
  const ripgrep = findProgram("rg", root);
  const program = findProgram("fd", root) ?? findProgram("fdfind", root);
  const fd = program === undefined ? undefined : await probe(program);
  const keepsRules = fd !== undefined && (fd.everywhere || isInRepository(root));
  return { ...(ripgrep === undefined ? {} : { ripgrep }), ...(keepsRules ? { fd } : {}) };
}

function probe(program: string): Promise<Fd | undefined> {
  const known = probed.get(program) ?? probeFd(program);
  probed.set(program, known);
  return known;
}
