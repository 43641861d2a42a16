import assert from "node:assert/strict";
import { type ContractContext, casesOf } from "../contract-case.js";

/** Names that are ordinary to a file system and trouble to everything else. Each is one path component. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  P06: ["a\nb", "\n", "f\n", "f", "\n\n", "a\n\nb\n"],
  P07: ["a\rb", "a\tb", "a\u001b[31mb", "\u007f", "\u0001", "a\u0085b", "\u202eabc"],
  P08: ["-n", "-rf", "--help", "-delete", "-", "--", "-e", "!", "(", ";"],
  P09: ["$(id)", "`id`", "$\u007bHOME}", "$PATH", "~", "~root", "!!", "$IFS", "%s%n"],
  P10: ["it's", '"q"', "'\"'\"'", "a\\b", "\\", "\\n", "\\\\", "'", "''"],
  P11: ["*", "?", "[a]", "{a,b}", "**", "[", "a*", ".*"],
  P15: ["e\u0301", "\u00e9"],
  P18: ["__proto__", "constructor", "hasOwnProperty", "toString"],
  P19: ["con", "nul", "a:b", "C:\\x", "\\\\server\\share", "aux.txt", "a."],
  P21: ["@types", "file:", "http:", "%2e%2e", "%00"],
  "": [" ", "  a  ", " ", "a ", "...", "..a", ".a", "日本語", "👩‍👩‍👧", "a=b", "#a", "a&b", "<a>", "|", "a\u00a0b"],
};

const WHAT: Readonly<Record<string, string>> = {
  P06: "line feeds",
  P07: "control characters",
  P08: "leading dashes",
  P09: "what a shell expands",
  P10: "quotes and backslashes",
  P11: "what a glob expands",
  P15: "two forms of one letter are two files",
  P18: "properties of every object",
  P19: "what other systems reserve",
  P21: "what looks like a URL",
  "": "blanks, dots and scripts",
};

export const namesCases = casesOf("names", [
  ...Object.entries(NAMES).map(([id, names]) => ({
    name: `odd names are ordinary names: ${WHAT[id] ?? id}`,
    ...(id === "" ? {} : { id }),
    async run({ environment, path, write, text, names: list }: ContractContext) {
      const distinct = [...new Set(names)];
      for (const [index, name] of distinct.entries()) {
        const written = await write(`d/${name}`, `content ${index}`);
        assert.deepEqual(written, { canonicalPath: path(`d/${name}`), created: true }, JSON.stringify(name));
      }
      for (const [index, name] of distinct.entries()) {
        assert.equal(await text(`d/${name}`), `content ${index}`, JSON.stringify(name));
        const stat = await environment.stat(path(`d/${name}`));
        assert.deepEqual([stat.kind, stat.canonicalPath], ["file", path(`d/${name}`)], JSON.stringify(name));
        assert.equal(await environment.realpath(path(`d/${name}`)), path(`d/${name}`));
      }
      assert.deepEqual(await list("d"), [...distinct].sort());
      const found = await environment.find(path("d"), { pattern: "*", limit: 100 });
      const visible = distinct.filter((name) => !name.startsWith("."));
      const seen = found.paths.map((each) => each.path).filter((name) => !name.startsWith("."));
      assert.deepEqual([...seen].sort(), [...visible].sort());
    },
  })),
  {
    name: "odd names of directories are ordinary names",
    id: "P06",
    async run({ environment, path, write, text }) {
      for (const name of ["a\nb\n", "-rf", "$(id)", "it's", "*", "__proto__", " ", "\\"]) {
        await write(`${name}/deeper ${name}/file`, "x");
        assert.equal(await text(`${name}/deeper ${name}/file`), "x", JSON.stringify(name));
        assert.deepEqual(await environment.readdir(path(name)), [{ name: `deeper ${name}`, kind: "directory" }], JSON.stringify(name));
        await environment.writeFile(path(`${name}/deeper ${name}/file`), Buffer.from("y"));
        assert.equal(await text(`${name}/deeper ${name}/file`), "y", JSON.stringify(name));
      }
    },
  },
  {
    name: "what looks like a URL, a home directory or an option is a relative name",
    id: "P21",
    async run({ environment, rejects }) {
      for (const name of [
        "file:///no-such-glovebox",
        "http://no-such-glovebox",
        "~/no-such-glovebox",
        "~root/no-such-glovebox",
        "-no-such-glovebox",
      ]) {
        await rejects(environment.readFile(name), "not_found");
      }
    },
  },
  {
    name: "an empty path is refused by every verb",
    id: "P01",
    quick: true,
    async run({ environment, rejects }) {
      await rejects(environment.readFile(""), "invalid_argument");
      await rejects(environment.writeFile("", Buffer.from("x")), "invalid_argument");
      await rejects(environment.stat(""), "invalid_argument");
      await rejects(environment.readdir(""), "invalid_argument");
      await rejects(environment.realpath(""), "invalid_argument");
      await rejects(environment.grep("", { pattern: "x", limit: 1 }), "invalid_argument");
      await rejects(environment.find("", { pattern: "x", limit: 1 }), "invalid_argument");
      await rejects(environment.exec("true", { cwd: "" }), "invalid_argument");
    },
  },
  {
    name: "a NUL in a path is refused by every verb",
    id: "P05",
    quick: true,
    async run({ environment, path, names, rejects }) {
      const wrong = path("a\0b");
      await rejects(environment.readFile(wrong), "invalid_argument");
      await rejects(environment.writeFile(wrong, Buffer.from("x")), "invalid_argument");
      await rejects(environment.stat(wrong), "invalid_argument");
      await rejects(environment.readdir(wrong), "invalid_argument");
      await rejects(environment.realpath(wrong), "invalid_argument");
      await rejects(environment.grep(wrong, { pattern: "x", limit: 1 }), "invalid_argument");
      await rejects(environment.find(wrong, { pattern: "x", limit: 1 }), "invalid_argument");
      assert.deepEqual(await names("."), []);
    },
  },
  {
    name: "a lone surrogate in a path is refused",
    id: "P20",
    quick: true,
    async run({ environment, path, names, rejects }) {
      for (const wrong of ["\ud800", "a\udfffb"]) {
        await rejects(environment.readFile(path(wrong)), "invalid_argument");
        await rejects(environment.writeFile(path(wrong), Buffer.from("x")), "invalid_argument");
      }
      assert.deepEqual(await names("."), []);
    },
  },
  {
    name: "a name of 255 bytes is taken, one of 256 is refused with invalid_argument",
    id: "P14",
    async run({ environment, path, write, text, names, rejects }) {
      const longest = `${"é".repeat(127)}x`;
      await write(longest, "fits");
      assert.equal(await text(longest), "fits");
      await rejects(environment.writeFile(path(`${longest}y`), Buffer.from("x")), "invalid_argument");
      await rejects(environment.readFile(path("a".repeat(256))), "invalid_argument");
      assert.deepEqual(await names("."), [longest]);
    },
  },
  {
    name: "a path far beyond 4,095 bytes is refused with invalid_argument",
    id: "P14",
    async run({ environment, path, names, rejects }) {
      const wrong = path(`${"d/".repeat(3000)}file`);
      await rejects(environment.readFile(wrong), "invalid_argument");
      await rejects(environment.writeFile(wrong, Buffer.from("x")), "invalid_argument");
      assert.deepEqual(await names("."), []);
    },
  },
  {
    name: "hundreds of nested directories are walked without trouble",
    id: "P14",
    async run({ environment, path, write, text }) {
      const deep = `${"d/".repeat(400)}file`;
      await write(deep, "deep");
      assert.equal(await text(deep), "deep");
      const found = await environment.find(path("."), { pattern: "file", limit: 10 });
      assert.deepEqual(found.paths, [{ path: deep, kind: "file" }]);
    },
  },
]);
