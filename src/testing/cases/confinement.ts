import assert from "node:assert/strict";
import { dirname } from "node:path/posix";
import { type ContractContext, casesOf } from "../contract-case.js";
import { sleep } from "../settle.js";

/** Every file and search verb on one path must say outside_root. */
async function refusedByEveryVerb({ environment, rejects }: ContractContext, path: string): Promise<void> {
  await rejects(environment.readFile(path), "outside_root");
  await rejects(environment.readFile(path, { lines: { start: 1, count: 1 } }), "outside_root");
  await rejects(environment.writeFile(path, Buffer.from("x")), "outside_root");
  await rejects(environment.writeFile(path, Buffer.from("x"), { ifMatch: null }), "outside_root");
  await rejects(environment.stat(path), "outside_root");
  await rejects(environment.readdir(path), "outside_root");
  await rejects(environment.realpath(path), "outside_root");
  await rejects(environment.grep(path, { pattern: "x", limit: 1 }), "outside_root");
  await rejects(environment.find(path, { pattern: "*", limit: 1 }), "outside_root");
}

/** The root, and a place next to it that nobody inside may see. */
function places({ environment, directory }: ContractContext): { readonly root: string; readonly outside: string } {
  const root = environment.root ?? "/";
  const unique = directory.split("/").slice(-2).join("-");
  return { root, outside: `${dirname(root) === "/" ? "" : dirname(root)}/outside-${unique}` };
}

/** Lets a name lead in and out of the root by turns, as fast as the target can. */
const SWAPPER = `
if command -v perl > /dev/null; then
  exec perl -e 'while (1) { for my $to ($ENV{OUT}, "inside") { unlink "swap.new"; symlink $to, "swap.new"; rename "swap.new", "swap" } }'
fi
while :; do
  ln -sfn "$OUT" swap.new && mv -T swap.new swap
  ln -sfn inside swap.new && mv -T swap.new swap
done`;

export const confinementCases = casesOf("confinement", [
  {
    name: "paths that lead out of the root are outside_root for every verb",
    id: "P03",
    needs: ["rooted"],
    async run(context) {
      const { root } = places(context);
      const up = "../".repeat(root.split("/").length + 20);
      for (const path of [
        "/",
        "/etc",
        "//etc//passwd",
        dirname(root),
        `${root}/..`,
        `${root}/../no-such-thing`,
        `${context.directory}/${up}etc/passwd`,
      ]) {
        await refusedByEveryVerb(context, path);
      }
    },
  },
  {
    name: "a sibling whose name begins like the root is outside",
    id: "P04",
    needs: ["rooted"],
    async run(context) {
      const { root } = places(context);
      const evil = `${root}-evil-${context.directory.split("/").at(-2)}`;
      await context.host.mkdir(evil);
      try {
        await refusedByEveryVerb(context, evil);
        await refusedByEveryVerb(context, `${evil}/file`);
      } finally {
        await context.host.remove(evil);
      }
    },
  },
  {
    name: "symlinks that lead out are outside_root for every verb, at the end and on the way",
    id: "P28",
    needs: ["rooted", "symlinks"],
    async run(context) {
      const { outside } = places(context);
      const { host, path, write } = context;
      await host.mkdir(`${outside}/sub`);
      try {
        await write("inside.txt", "x");
        await host.symlink(outside, path("absolute"));
        await host.symlink(`../../../../../../../../../../..${outside}`, path("relative"));
        await host.symlink("absolute", path("twice"));
        await host.symlink(`${outside}/new-file`, path("dangling"));
        const through = [
          "absolute",
          "relative",
          "twice",
          "absolute/sub",
          "absolute/new",
          "relative/new/deeper",
          "absolute/..",
          "twice/../new",
          "dangling",
        ];
        for (const name of through) await refusedByEveryVerb(context, path(name));
        assert.equal(await context.text("inside.txt"), "x");
      } finally {
        await host.remove(outside);
      }
    },
  },
  {
    name: "nothing is made outside by a refused write",
    id: "P28",
    needs: ["rooted", "processes"],
    async run(context) {
      const { outside } = places(context);
      const { environment, host, path, rejects } = context;
      await host.mkdir(outside);
      try {
        await host.symlink(outside, path("link"));
        await rejects(environment.writeFile(path("link/new/file"), Buffer.from("x")), "outside_root");
        const { exitCode } = await environment.exec('[ -z "$(ls -A "$AT")" ]', { env: { AT: outside } });
        assert.equal(exitCode, 0, "the place outside is still empty");
      } finally {
        await host.remove(outside);
      }
    },
  },
  {
    name: "readdir names a link that leads out and not what is behind it",
    needs: ["rooted", "symlinks"],
    async run({ environment, host, path }) {
      await host.mkdir(path("d"));
      await host.symlink("/", path("d/link"));
      assert.deepEqual(await environment.readdir(path("d")), [{ name: "link", kind: "symlink", linkTarget: "/" }]);
    },
  },
  {
    name: "searches do not leave the root through a symlink",
    needs: ["rooted", "symlinks"],
    async run(context) {
      const { outside } = places(context);
      const { environment, host, path, write } = context;
      await host.mkdir(`${outside}/sub`);
      try {
        await write("inside/a.txt", "needle");
        await host.symlink(outside, path("inside/link"));
        const found = await environment.find(path("inside"), { pattern: "sub", limit: 10 });
        assert.deepEqual(found.paths, []);
        const { lines } = await environment.grep(path("inside"), { pattern: "needle", limit: 10 });
        assert.deepEqual(
          lines.map((line) => line.path),
          ["a.txt"],
        );
      } finally {
        await host.remove(outside);
      }
    },
  },
  {
    name: "an absolute link and `..` that stay inside the root work",
    id: "P28",
    needs: ["rooted", "symlinks"],
    async run({ host, path, write, text }) {
      await write("real/a.txt", "inside");
      await write("b.txt", "above");
      await host.symlink(path("real"), path("absolute"));
      assert.equal(await text("absolute/a.txt"), "inside");
      assert.equal(await text("absolute/../b.txt"), "above");
      assert.equal(await text("real/../real/./a.txt"), "inside");
    },
  },
  {
    name: "the spool directory is reached though the root is narrower",
    needs: ["rooted"],
    async run({ environment }) {
      const file = `${environment.spoolDirectory}/output.log`;
      await environment.writeFile(file, Buffer.from("kept"));
      assert.equal(Buffer.from((await environment.readFile(file)).data).toString(), "kept");
      assert.ok((await environment.readdir(environment.spoolDirectory)).some(({ name }) => name === "output.log"));
      assert.equal((await environment.grep(file, { pattern: "kept", limit: 1 })).matches, 1);
    },
  },
  {
    name: "no read, write or listing escapes while a symlink is swapped underneath",
    id: "R29",
    needs: ["raceFree", "processes"],
    async run(context) {
      const { outside } = places(context);
      const { environment, host, path, write } = context;
      await host.mkdir(outside);
      await environment.exec('echo secret > "$AT/file"', { env: { AT: outside } });
      await write("inside/file", "public");
      await host.symlink("inside", path("swap"));
      const attack = new AbortController();
      const outcomes = new Set<string>();
      const swapping = environment.exec(SWAPPER, { cwd: path("."), env: { OUT: outside }, signal: attack.signal }).catch(() => undefined);
      const victim = async (until: number): Promise<void> => {
        while (performance.now() < until) {
          const outcome = await environment.readFile(path("swap/file")).then(
            ({ data }) => Buffer.from(data).toString().trim(),
            (error: { readonly code?: string }) => String(error.code),
          );
          assert.notEqual(outcome, "secret");
          outcomes.add(outcome);
          const written = await environment.writeFile(path("swap/planted"), Buffer.from("x")).catch(() => undefined);
          assert.ok(written === undefined || written.canonicalPath === path("inside/planted"), written?.canonicalPath);
          await sleep(0);
        }
      };
      try {
        const until = performance.now() + 3000;
        await Promise.all([victim(until), victim(until), victim(until)]);
      } finally {
        attack.abort();
        await swapping;
      }
      const { exitCode } = await environment.exec('[ ! -e "$AT/planted" ]', { env: { AT: outside } });
      await host.remove(outside);
      assert.equal(exitCode, 0, "nothing was planted outside");
      assert.ok(outcomes.has("public") && outcomes.has("outside_root"), `the link did lead both ways: ${[...outcomes].join(", ")}`);
    },
  },
]);
