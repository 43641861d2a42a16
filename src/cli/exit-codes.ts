/** What the commands exit with. API: scripts test for these. `exec`'s follow `docker run` and `timeout`. */
export const EXIT = {
  done: 0,
  isError: 1,
  usage: 2,
  timeout: 124,
  failed: 125,
  interrupted: 130,
} as const;
