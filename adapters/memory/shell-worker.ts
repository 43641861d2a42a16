/**
 * The program of the worker thread in which just-bash runs, as text: a worker needs a file of its own or a text, and only
 * the text is the same in the sources and in the published bundle. One message in is one command; one message out is its
 * result and what it changed.
 */
export const SHELL_WORKER = `
"use strict";
const { parentPort, workerData } = require("node:worker_threads");
const { Bash, InMemoryFs } = require(workerData.module);

async function listing(fs) {
  const found = new Map();
  for (const path of fs.getAllPaths()) {
    if (path === "/") continue;
    const stat = await fs.lstat(path);
    const item = { path, mode: stat.mode & 0o7777, mtimeMs: stat.mtime.getTime() };
    if (stat.isSymbolicLink) found.set(path, { ...item, kind: "symlink", target: await fs.readlink(path) });
    else if (stat.isDirectory) found.set(path, { ...item, kind: "directory" });
    else if (stat.isFile) found.set(path, { ...item, kind: "file", data: await fs.readFileBuffer(path) });
  }
  return found;
}

function same(a, b) {
  if (a === undefined || a.kind !== b.kind || a.target !== b.target) return false;
  if (a.kind === "symlink") return true;
  return a.mode === b.mode && (a.kind === "directory" || Buffer.compare(a.data, b.data) === 0);
}

async function run({ command, cwd, env, stdin, image }) {
  const fs = new InMemoryFs();
  for (const item of image) {
    if (item.kind === "directory") {
      fs.mkdirSync(item.path, { recursive: true });
      await fs.chmod(item.path, item.mode);
    } else if (item.kind === "symlink") await fs.symlink(item.target, item.path);
    else fs.writeFileSync(item.path, item.data, undefined, { mode: item.mode, mtime: new Date(item.mtimeMs) });
  }
  const bash = new Bash({ fs, cwd });
  const before = await listing(fs);
  const result = await bash.exec(command, { cwd, env, rawScript: true, stdin: Buffer.from(stdin).toString("latin1"), stdinKind: "bytes" });
  const after = await listing(fs);
  const changed = [...after.values()].filter((item) => !same(before.get(item.path), item)).sort((a, b) => (a.path < b.path ? -1 : 1));
  const removed = [...before.keys()].filter((path) => !after.has(path));
  return { stdout: result.stdout, stderr: result.stderr, exitCode: result.exitCode, changed, removed };
}

parentPort.on("message", (request) => {
  run(request).then(
    (answer) => parentPort.postMessage(answer),
    (error) => parentPort.postMessage({ error: String(error) }),
  );
});
`;
