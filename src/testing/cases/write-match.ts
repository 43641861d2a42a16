import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { casesOf } from "../contract-case.js";

const sha256 = (content: string): string => createHash("sha256").update(content).digest("hex");

export const writeMatchCases = casesOf("write if match", [
  {
    name: "ifMatch with the hash of what is there writes",
    quick: true,
    async run({ environment, path, write, text }) {
      await write("a.txt", "one");
      const written = await environment.writeFile(path("a.txt"), Buffer.from("two"), { ifMatch: sha256("one") });
      assert.deepEqual(written, { canonicalPath: path("a.txt"), created: false });
      assert.equal(await text("a.txt"), "two");
    },
  },
  {
    name: "ifMatch with another hash is conflict, says both hashes, and writes nothing",
    id: "C18",
    quick: true,
    async run({ environment, path, write, text, rejects }) {
      await write("a.txt", "one");
      const error = await rejects(environment.writeFile(path("a.txt"), Buffer.from("two"), { ifMatch: sha256("other") }), "conflict");
      assert.equal(error.details.expectedSha256, sha256("other"));
      assert.equal(error.details.actualSha256, sha256("one"));
      assert.equal(await text("a.txt"), "one");
    },
  },
  {
    name: "ifMatch null makes a new file, and is conflict where one is",
    quick: true,
    async run({ environment, path, text, rejects }) {
      const make = (content: string) => environment.writeFile(path("a.txt"), Buffer.from(content), { ifMatch: null });
      assert.equal((await make("one")).created, true);
      const error = await rejects(make("two"), "conflict");
      assert.equal(error.details.expectedSha256, null);
      assert.equal(error.details.actualSha256, sha256("one"));
      assert.equal(await text("a.txt"), "one");
    },
  },
  {
    name: "ifMatch with a hash where no file is: conflict, and not even parents are made",
    id: "C18",
    async run({ environment, path, names, rejects }) {
      const error = await rejects(environment.writeFile(path("p/q/a.txt"), Buffer.from("x"), { ifMatch: sha256("one") }), "conflict");
      assert.equal(error.details.actualSha256, null);
      assert.deepEqual(await names("."), []);
    },
  },
  {
    name: "ifMatch null makes missing parents",
    async run({ environment, path, text }) {
      await environment.writeFile(path("p/q/a.txt"), Buffer.from("new"), { ifMatch: null });
      assert.equal(await text("p/q/a.txt"), "new");
    },
  },
  {
    name: "ifMatch compares empty files and large ones",
    async run({ environment, path, write, rejects }) {
      await write("empty", "");
      await environment.writeFile(path("empty"), Buffer.from("x"), { ifMatch: sha256("") });
      const large = "0123456789abcdef".repeat(200_000);
      await write("large", large);
      await rejects(environment.writeFile(path("large"), Buffer.from("x"), { ifMatch: sha256(large.slice(1)) }), "conflict");
      await environment.writeFile(path("large"), Buffer.from("x"), { ifMatch: sha256(large) });
    },
  },
  {
    name: "ifMatch looks at the referent of a symlink",
    needs: ["symlinks"],
    async run({ environment, path, write, text, host }) {
      await write("real.txt", "one");
      await host.symlink("real.txt", path("link"));
      await environment.writeFile(path("link"), Buffer.from("two"), { ifMatch: sha256("one") });
      assert.equal(await text("real.txt"), "two");
    },
  },
  {
    name: "an ifMatch that is no hash is refused",
    async run({ environment, path, write, rejects }) {
      await write("a.txt", "one");
      for (const wrong of ["", "abc", sha256("one").toUpperCase()]) {
        await rejects(environment.writeFile(path("a.txt"), Buffer.from("x"), { ifMatch: wrong }), "invalid_argument");
      }
    },
  },
  {
    name: "of many writers that expect the same content, over two connections, exactly one wins",
    id: "J2",
    async run({ environment, path, write, text, reopen }) {
      const other = await reopen();
      for (let round = 0; round < 5; round += 1) {
        await write("a.txt", "start");
        const tries = Array.from({ length: 8 }, async (_, writer) => {
          const through = writer % 2 === 0 ? environment : other;
          try {
            await through.writeFile(path("a.txt"), Buffer.from(`writer ${writer}`), { ifMatch: sha256("start") });
            return `writer ${writer}`;
          } catch (error) {
            assert.equal((error as { readonly code?: string }).code, "conflict", String(error));
            return undefined;
          }
        });
        const winners = (await Promise.all(tries)).filter((winner) => winner !== undefined);
        assert.equal(winners.length, 1, `round ${round}: ${winners.join(", ")}`);
        assert.equal(await text("a.txt"), winners[0]);
      }
    },
  },
  {
    name: "of many writers that expect no file, over two connections and two names of one directory, exactly one wins",
    id: "J2",
    needs: ["symlinks"],
    async run({ environment, path, write, host, reopen }) {
      const other = await reopen();
      await write("real/.keep", "");
      await host.symlink("real", path("alias"));
      const tries = Array.from({ length: 8 }, async (_, writer) => {
        const name = writer % 2 === 0 ? "real/new.txt" : "alias/new.txt";
        const through = writer % 4 < 2 ? environment : other;
        return await through.writeFile(path(name), Buffer.from(`writer ${writer}`), { ifMatch: null }).then(
          () => 1,
          (error: { readonly code?: string }) => {
            assert.equal(error.code, "conflict", String(error));
            return 0;
          },
        );
      });
      const wins = (await Promise.all(tries)).reduce<number>((sum, win) => sum + win, 0);
      assert.equal(wins, 1);
    },
  },
  {
    name: "read, change and write with ifMatch loses no update between two connections",
    id: "J1",
    async run({ environment, path, write, text, reopen }) {
      const other = await reopen();
      await write("log", "");
      const append = async (through: typeof environment, token: string): Promise<void> => {
        for (;;) {
          const old = Buffer.from((await through.readFile(path("log"))).data).toString();
          try {
            await through.writeFile(path("log"), Buffer.from(`${old}${token}\n`), { ifMatch: sha256(old) });
            return;
          } catch (error) {
            assert.equal((error as { readonly code?: string }).code, "conflict", String(error));
          }
        }
      };
      const tokens = Array.from({ length: 16 }, (_, index) => `token-${index}`);
      const half = (rest: number): readonly string[] => tokens.filter((_, index) => index % 2 === rest);
      const client = async (through: typeof environment, mine: readonly string[]): Promise<void> => {
        for (const token of mine) await append(through, token);
      };
      await Promise.all([client(environment, half(0)), client(other, half(1))]);
      const lines = (await text("log")).trimEnd().split("\n").sort();
      assert.deepEqual(lines, [...tokens].sort());
    },
  },
]);
