/** The shells that the scripts are tried with: this machine's own, and three that targets commonly have. */
export const shells = {
  sh: ["sh"],
  dash: ["dash"],
  bash: ["bash"],
  "busybox sh": ["busybox", "sh"],
} as const satisfies Readonly<Record<string, readonly string[]>>;
