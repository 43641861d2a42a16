import { partsOf } from "./located.js";

/** Directories whose files some program runs or obeys without being asked. */
const DIRECTORIES = new Set([".vscode", ".claude", ".codex"]);

const FILES = new Set([
  ".mcp.json",
  ".gitconfig",
  ".profile",
  ".bashrc",
  ".bash_profile",
  ".bash_login",
  ".bash_logout",
  ".bash_aliases",
  ".zshrc",
  ".zshenv",
  ".zprofile",
  ".zlogin",
  ".zlogout",
  ".kshrc",
  ".cshrc",
  ".tcshrc",
  ".login",
  ".logout",
]);

/**
 * Whether writing there plants something that runs later, outside the agent's session: git hooks and configuration, shell
 * start-up files, settings of editors and agents. `relative` is relative to the root. Case is not trusted.
 */
export function isProtected(relative: string): boolean {
  const parts = partsOf(relative.toLowerCase());
  const name = parts.at(-1) ?? "";
  if (FILES.has(name) || parts.some((part) => DIRECTORIES.has(part))) return true;
  const git = parts.indexOf(".git");
  if (git === -1) return false;
  const below = parts.slice(git + 1);
  return below.includes("hooks") || name === "config" || name === "config.worktree";
}

/** What a wrapper that binds paths read-only should bind, relative to the root. */
export const PROTECTED_PATHS: readonly string[] = [".git/hooks", ".git/config", ...DIRECTORIES, ...FILES];
