import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type MemoryFiles, memory } from "../../../adapters/memory/index.js";
import { GloveboxError } from "../../../src/contract/errors.js";
import { openEnvironment } from "../../../src/environment.js";
import { byCodePoint } from "../../../src/layers/search/place.js";
import { openWalk } from "../../../src/layers/search/walk.js";
import { changed } from "../scripted.js";

const NO_LIMIT = 1_000_000;

async function everything(files: MemoryFiles, root = "."): Promise<readonly string[]> {
  const environment = await openEnvironment(memory({ files }));
  const { paths } = await environment.find(root, { pattern: "**", limit: NO_LIMIT });
  return paths.map(({ path, kind }) => (kind === "directory" ? `${path}/` : path));
}

describe("the walk", () => {
  it("names everything in code-point order of the whole path, symlinks without following them", async () => {
    const files = {
      "a/z": "",
      "a-b": "",
      a0: "",
      ".hidden/x": "",
      Z: "",
      "\ue000": "",
      "😀": "",
      loop: { symlink: "." },
      pipe: { special: "fifo" },
    } as const;
    expect(await everything(files)).toEqual([".hidden/", ".hidden/x", "Z", "a/", "a-b", "a/z", "a0", "loop", "pipe", "\ue000", "😀"]);
  });

  it("finds every file of any tree, in order", async () => {
    const name = fc.stringMatching(/^[ab.\-\u00e9\ue000]{1,3}$/).filter((each) => !/^\.\.?$/.test(each));
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(path, { maxLength: 20 }), async (paths) => {
        const kept = paths.filter((one) => !paths.some((other) => other.startsWith(`${one}/`)));
        const directories = kept.flatMap((one) => [...one.matchAll(/\//g)].map(({ index }) => one.slice(0, index)));
        const expected = [...new Set([...kept, ...directories])].sort(byCodePoint);
        const found = await everything(Object.fromEntries(kept.map((one) => [one, "x"])));
        expect(found.map((each) => each.replace(/\/$/, ""))).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  it("P14 goes down 2,000 directories", async () => {
    const deep = Array.from({ length: 2_000 }, () => "d").join("/");
    const [end, rules] = [`/workspace/${deep}`, "/workspace/.gitignore"];
    const target = changed(memory({ files: { ".gitignore": "**/x/**/f\nnode_modules\n" } }), (connection) => ({
      readFile: async (path, options) =>
        path === `${end}/f`
          ? { data: new TextEncoder().encode("needle"), size: 6, canonicalPath: path }
          : await connection.readFile(path, options),
      readdir: async (path) => [
        path === end ? { name: "f", kind: "file" } : { name: "d", kind: "directory" },
        ...(path === dirname(rules) ? [{ name: ".gitignore", kind: "file" } as const] : []),
      ],
    }));
    const environment = await openEnvironment(target);
    const { paths } = await environment.find("/workspace", { pattern: "f", limit: 2 });
    expect(paths).toEqual([{ path: `${deep}/f`, kind: "file" }]);
    expect((await environment.grep("/workspace", { pattern: "needle", limit: 2, glob: "**/d/**/d/**/f" })).matches).toBe(1);
  });

  it("lists a few directories ahead, never more", async () => {
    let atOnce = 0;
    let most = 0;
    const target = changed(
      memory({ files: Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`d${index}/f`, ""])) }),
      (connection) => ({
        async readdir(path, options) {
          atOnce += 1;
          most = Math.max(most, atOnce);
          await new Promise((resolve) => setTimeout(resolve, 1));
          atOnce -= 1;
          return await connection.readdir(path, options);
        },
      }),
    );
    const environment = await openEnvironment(target);
    await environment.find(".", { pattern: "f", limit: NO_LIMIT });
    expect(most).toBe(8);
  });

  it("counts directories that cannot be listed, and goes on", async () => {
    const target = changed(memory({ files: { "a/x": "", "b/x": "", "c/x": "" } }), (connection) => ({
      async readdir(path, options) {
        if (path.endsWith("/b")) throw new GloveboxError("permission_denied", "No.");
        return await connection.readdir(path, options);
      },
    }));
    const found = await (await openEnvironment(target)).find(".", { pattern: "x", limit: 5 });
    expect(found).toEqual({
      paths: [
        { path: "a/x", kind: "file" },
        { path: "c/x", kind: "file" },
      ],
      limitReached: false,
      engine: "walk",
      ignoreRules: true,
      skipped: 1,
    });
  });

  it("ends with what concerns more than one entry: a lost link, an abort", async () => {
    const lost = changed(memory({ files: { "a/x": "" } }), (connection) => ({
      async readdir(path, options) {
        if (path.endsWith("/a")) throw new GloveboxError("disconnected", "The link broke.");
        return await connection.readdir(path, options);
      },
    }));
    await expect((await openEnvironment(lost)).find(".", { pattern: "*", limit: 5 })).rejects.toMatchObject({ code: "disconnected" });

    const abort = new AbortController();
    const walk = await openWalk(
      { files: await memory({ files: { "a/b/c": "" } }).connect({}), cwd: "/workspace" },
      "/workspace",
      abort.signal,
    );
    const all = async () => {
      for await (const _walked of walk) abort.abort();
    };
    await expect(all()).rejects.toMatchObject({ code: "aborted" });
  });

  it("rejects what listing its root rejects", async () => {
    const environment = await openEnvironment(memory({ files: { file: "" } }));
    await expect(environment.find("none", { pattern: "*", limit: 1 })).rejects.toMatchObject({
      code: "not_found",
      path: "/workspace/none",
    });
    await expect(environment.find("file", { pattern: "*", limit: 1 })).rejects.toMatchObject({ code: "not_directory" });
  });
});

describe(".gitignore", () => {
  it("rules count from where they are written, deeper ones first, the last match wins", async () => {
    const found = await everything({
      ".gitignore": "# comment\n*.log\n/build/\n!keep.log\ntmp/*\n",
      "a.log": "",
      "keep.log": "",
      "build/x": "",
      "src/build/x": "",
      "src/.gitignore": "!a.log\nb.ts\n",
      "src/a.log": "",
      "src/b.ts": "",
      "src/deep/b.ts": "",
      "tmp/y": "",
    });
    expect(found).toEqual([
      ".gitignore",
      "keep.log",
      "src/",
      "src/.gitignore",
      "src/a.log",
      "src/build/",
      "src/build/x",
      "src/deep/",
      "tmp/",
    ]);
  });

  it("rules of a repository stop at a repository inside it; `.git` directories are never entered", async () => {
    const found = await everything({
      ".git/HEAD": "",
      ".gitignore": "dist\n",
      "dist/x": "",
      "sub/.git/HEAD": "",
      "sub/dist/x": "",
      "sub/.gitignore": "local\n",
      "sub/local": "",
      "worktree/.git": "gitdir: elsewhere",
      "worktree/dist/x": "",
    });
    expect(found).toEqual([
      ".gitignore",
      "sub/",
      "sub/.gitignore",
      "sub/dist/",
      "sub/dist/x",
      "worktree/",
      "worktree/.git",
      "worktree/dist/",
      "worktree/dist/x",
    ]);
  });

  it("rules above the search root have their say, up to the working directory and no repository further", async () => {
    const files = {
      ".gitignore": "*.log\nsrc/gen\n",
      "src/a.log": "",
      "src/a.ts": "",
      "src/gen/x": "",
      "repo/.git/HEAD": "",
      "repo/b/a.log": "",
    };
    expect(await everything(files, "src")).toEqual(["a.ts"]);
    expect(await everything(files, "repo/b")).toEqual(["a.log"]);
    expect(await everything({ ...files, "src/gen/y.log": "" }, "src/gen")).toEqual(["x", "y.log"]);
    expect(await everything({ "/.gitignore": "*", a: "" })).toEqual(["a"]);
  });

  it("is read only when it is a file, and only so much of it", async () => {
    const found = await everything({
      "a/.gitignore/x": "",
      "b/.gitignore": { symlink: "../rules" },
      "b/y": "",
      rules: "y\n",
      "c/.gitignore": `${"#\n".repeat(200_000)}z\n`,
      "c/z": "",
    });
    expect(found).toEqual(["a/", "a/.gitignore/", "a/.gitignore/x", "b/", "b/.gitignore", "b/y", "c/", "c/.gitignore", "c/z", "rules"]);
  });

  it("cannot hold us up with rules that take for ever to match", async () => {
    const name = "a".repeat(255);
    const found = await everything({ ".gitignore": `${"*a".repeat(20)}b\n**/x/**/x/**/x/**/x/**/y\nz\n`, [name]: "", z: "" });
    expect(found).toEqual([".gitignore", name]);
  });

  it("rules out what git itself rules out", async () => {
    const files: Record<string, string> = {
      ".gitignore":
        "*.o\n!main.o\nvendor/\n/only-top\ndocs/**/*.pdf\na[bc]d\n\\#literal\n\\!bang\ntrail\\ \nfoo/**\n!foo/\n!foo/keep\n**/cache\n?x\n",
      "lib/.gitignore": "*\n!.gitignore\n!*.h\n",
      "x/.gitignore": "!cache\n/y/z\n",
    };
    for (const path of [
      "main.o",
      "a.o",
      "b/main.o",
      "b/c.o",
      "vendor",
      "sub/vendor/x",
      "only-top",
      "sub/only-top",
      "docs/a.pdf",
      "docs/b/c.pdf",
      "abd",
      "acd",
      "add",
      "#literal",
      "!bang",
      "trail ",
      "trail",
      "foo/keep",
      "foo/lose",
      "foo/sub/keep",
      "cache/x",
      "p/cache",
      "x/cache/f",
      "x/y/z",
      "x/q/y/z",
      "lib/a.h",
      "lib/a.c",
      "lib/d/a.h",
      "ax",
      "é",
      "x/ax",
      "normal.txt",
    ])
      files[path] = "";
    const directory = mkdtempSync(join(tmpdir(), "glovebox-ignore-"));
    try {
      for (const [path, content] of Object.entries(files)) {
        mkdirSync(dirname(join(directory, path)), { recursive: true });
        writeFileSync(join(directory, path), content);
      }
      const git = (...args: string[]) => execFileSync("git", ["-c", "core.excludesFile=", ...args], { cwd: directory, encoding: "utf8" });
      git("init", "-q");
      const expected = git("ls-files", "-z", "--others", "--exclude-per-directory=.gitignore")
        .split("\0")
        .filter(Boolean)
        .sort(byCodePoint);
      const found = await everything(files);
      expect(found.filter((path) => !path.endsWith("/"))).toEqual(expected);
      expect(expected.length).toBeGreaterThan(10);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
