import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memory } from "../../adapters/memory/index.js";
import { openEnvironment } from "../../src/environment.js";
import { type AuditSink, audit } from "../../src/layers/audit.js";
import { createRedactor } from "../../src/layers/redact.js";

const open = (sink: AuditSink, secrets: readonly string[] = []) =>
  openEnvironment(memory({ files: { a: "x" }, exec: ({ command }) => (command === "fail" ? { exitCode: 3 } : {}) }), {
    layers: [audit(sink, { secrets })],
  });

function collect() {
  const lines: string[] = [];
  return {
    lines,
    sink: { write: (line: string) => void lines.push(line) },
    events: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

/** Without what differs from run to run. */
const settled = ({ time, durationMs, ...rest }: Record<string, unknown>) => ({
  ...rest,
  timed: typeof time === "string" && (rest.event === "start" || Number.isInteger(durationMs)),
});

describe("audit", () => {
  it("writes a line for each call, and one before each command and write", async () => {
    const { sink, lines, events } = collect();
    const environment = await open(sink);
    await environment.stat("a");
    await environment.writeFile("b", new Uint8Array(3));
    await environment.exec("fail", { cwd: "." });
    await environment.stat("none").catch(() => undefined);
    expect(events().map(settled)).toEqual([
      { event: "end", call: 1, target: "memory:", verb: "stat", path: "a", outcome: "ok", timed: true },
      { event: "start", call: 2, target: "memory:", verb: "writeFile", path: "b", bytes: 3, timed: true },
      { event: "end", call: 2, target: "memory:", verb: "writeFile", path: "b", bytes: 3, outcome: "ok", timed: true },
      { event: "start", call: 3, target: "memory:", verb: "exec", path: ".", text: "fail", timed: true },
      { event: "end", call: 3, target: "memory:", verb: "exec", path: ".", text: "fail", outcome: "ok", exitCode: 3, timed: true },
      {
        event: "end",
        call: 4,
        target: "memory:",
        verb: "stat",
        path: "none",
        outcome: "not_found",
        message: expect.any(String),
        timed: true,
      },
    ]);
    expect(lines.every((line) => line.endsWith("}\n"))).toBe(true);
  });

  it("A13 makes one event one line, controls escaped, whatever it holds", async () => {
    const { sink, lines, events } = collect();
    const command = 'x\n{"level":"fatal"}\r\u001b[2J\u007f\u009b\u2028\u202e\u2066';
    await (await open(sink)).exec(command);
    expect(lines.map((line) => line.split("\n").length)).toEqual([2, 2]);
    expect(lines.join("").replaceAll("\n", "")).toMatch(/^[\x20-\x7e]*$/);
    expect(events()[0]?.text).toBe(command);
  });

  it("does nothing that it cannot record first, and does not lose a result that it cannot record after", async () => {
    let broken = true;
    const environment = await open({
      write: async () => {
        if (broken) throw new Error("ENOSPC");
      },
    });
    for (const call of [environment.exec("true"), environment.writeFile("b", new Uint8Array())]) {
      await expect(call).rejects.toMatchObject({
        code: "unexpected",
        message: "Nothing was done, because it could not be recorded in the audit log. Have the log's owner see to it.",
        retrySafe: true,
      });
    }
    expect(environment.calls).toEqual([]);
    expect((await environment.readFile("a")).size).toBe(1);
    broken = false;
    expect(await environment.exec("true")).toEqual({ exitCode: 0 });
  });

  it("cuts what is very long", async () => {
    const { sink, events } = collect();
    await (await open(sink)).exec("x".repeat(20_000));
    expect(events()[0]?.text).toBe(`${"x".repeat(16_384)}… (3616 more characters)`);
  });

  it("A14 holds no secret in any usual form", async () => {
    const { sink, lines } = collect();
    const secret = "p@ss wörd/+?~(1)";
    const environment = await open(sink, [secret, "sk-canary-0001"]);
    const basic = Buffer.from(`user:${secret}`).toString("base64");
    for (const text of [secret, "sk-canary-0001x", encodeURIComponent(secret), basic]) {
      await environment.exec(`curl -H '${text}'`, { cwd: `/${text.replaceAll("/", "_")}` }).catch(() => undefined);
      await environment.stat(text).catch(() => undefined);
    }
    const all = lines.join("");
    for (const leak of [secret, "canary", encodeURIComponent(secret), basic.slice(8, -4)]) expect(all).not.toContain(leak);
    expect(all).toContain("curl -H '[redacted]x'");
  });
});

describe("createRedactor", () => {
  it("finds a secret in the middle of any base64, hexadecimal or percent-encoded value", () => {
    const secrets = fc.string({ minLength: 6, maxLength: 30, unit: "grapheme" });
    const around = fc.string({ maxLength: 8, unit: "grapheme" });
    fc.assert(
      fc.property(secrets, around, around, (secret, before, after) => {
        const bytes = Buffer.from(before + secret + after);
        const redact = createRedactor([secret]);
        const forms = [
          before + secret + after,
          bytes.toString("base64"),
          bytes.toString("base64url"),
          bytes.toString("hex"),
          encodeURIComponent(before + secret + after),
          new URLSearchParams({ q: before + secret + after }).toString(),
        ];
        for (const form of forms) expect(redact(form)).toContain("[redacted]");
      }),
      { numRuns: 500 },
    );
  });

  it("takes the longer of two that begin alike, and leaves other text alone", () => {
    const redact = createRedactor(["secret", "secret-and-more"]);
    expect(redact("a secret-and-more, a secret.")).toBe("a [redacted], a [redacted].");
    expect(createRedactor([])("secret")).toBe("secret");
  });

  it("refuses secrets that would blot out ordinary text", () => {
    expect(() => createRedactor(["long enough", "short"])).toThrow(
      "Secret number 2 has fewer than 6 characters and would blot out ordinary text. Leave it out, or make it longer.",
    );
    expect(() => createRedactor([""])).toThrow(expect.objectContaining({ code: "invalid_argument" }));
  });
});
