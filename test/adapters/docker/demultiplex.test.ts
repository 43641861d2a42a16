import { Duplex } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { demultiplex } from "../../../adapters/docker/demultiplex.js";

type Frame = readonly [stream: number, bytes: Uint8Array];

function encode(frames: readonly Frame[]): Buffer {
  return Buffer.concat(
    frames.flatMap(([stream, bytes]) => {
      const header = Buffer.alloc(8);
      header[0] = stream;
      header.writeUInt32BE(bytes.length, 4);
      return [header, bytes];
    }),
  );
}

function slice(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const parts: Buffer[] = [];
  for (let offset = 0, index = 0; offset < bytes.length; index += 1) {
    const size = sizes[index % sizes.length] ?? bytes.length;
    parts.push(bytes.subarray(offset, offset + size));
    offset += size;
  }
  return parts;
}

/** A source that hands out the parts as it is read. */
function sourceOf(parts: readonly Buffer[], end: "end" | "error" | "close" = "end"): Duplex & { taken(): number } {
  let next = 0;
  const source = new Duplex({
    highWaterMark: 1,
    read() {
      const part = parts[next];
      next += 1;
      if (part !== undefined) this.push(part);
      else if (end === "end") this.push(null);
      else this.destroy(end === "error" ? new Error("reset") : undefined);
    },
    write: (_chunk, _encoding, callback) => callback(),
  });
  return Object.assign(source, { taken: () => next });
}

async function collect(parts: readonly Buffer[], end?: "end" | "error" | "close", isOutput = async () => true) {
  const { stdout, stderr, ended } = demultiplex(sourceOf(parts, end), { isOutput });
  const read = async (stream: typeof stdout): Promise<Buffer> => {
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  };
  const [out, err, how] = await Promise.all([read(stdout), read(stderr), ended]);
  return { out: out.toString("latin1"), err: err.toString("latin1"), how };
}

describe("demultiplex", () => {
  it("gives each stream its bytes in order, however the frames are cut", async () => {
    const frame = fc.tuple(fc.constantFrom(1, 2), fc.uint8Array({ maxLength: 40 }));
    await fc.assert(
      fc.asyncProperty(
        fc.array(frame, { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 }),
        async (frames, sizes) => {
          const expected = (stream: number): string =>
            Buffer.concat(frames.filter(([each]) => each === stream).map(([, bytes]) => bytes)).toString("latin1");
          expect(await collect(slice(encode(frames), sizes))).toEqual({ out: expected(1), err: expected(2), how: "complete" });
        },
      ),
      { numRuns: 200 },
    );
  });

  it("never throws on arbitrary bytes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.integer({ min: 1, max: 30 }), async (bytes, size) => {
        const { how } = await collect(slice(Buffer.from(bytes), [size]));
        expect(["complete", "cut"]).toContain(how);
      }),
      { numRuns: 300 },
    );
  });

  it("says that a stream was cut inside a frame, by an error, or by a frame that cannot be", async () => {
    const whole = encode([[1, Buffer.from("hello")]]);
    expect(await collect([whole.subarray(0, 10)])).toEqual({ out: "he", err: "", how: "cut" });
    expect(await collect([encode([[2, Buffer.from("ab")]]), whole.subarray(0, 10)])).toEqual({ out: "he", err: "ab", how: "cut" });
    expect(await collect([whole], "error")).toMatchObject({ out: "hello", how: "cut" });
    expect(await collect([whole], "close")).toMatchObject({ out: "hello", how: "cut" });
    expect(await collect([whole, encode([[3, Buffer.from("x")]])])).toMatchObject({ out: "hello", how: "cut" });
    expect(await collect([Buffer.from([1, 0, 0, 0, 255, 255, 255, 255, 65])])).toEqual({ out: "", err: "", how: "cut" });
  });

  it("stops reading while stdout is not read, and goes on when it is", async () => {
    const frames = Array.from({ length: 100 }, (): Frame => [1, Buffer.alloc(16 * 1024, 1)]);
    const source = sourceOf(frames.map((frame) => encode([frame])));
    const { stdout, stderr, ended } = demultiplex(source, { isOutput: async () => true });
    stderr.resume();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(source.taken()).toBeLessThan(12);
    let bytes = 0;
    for await (const chunk of stdout) bytes += (chunk as Buffer).length;
    expect(bytes).toBe(100 * 16 * 1024);
    expect(await ended).toBe("complete");
  });

  it("is not held up by a stream that was destroyed", async () => {
    const frames = Array.from({ length: 100 }, (): Frame => [1, Buffer.alloc(16 * 1024, 1)]);
    const { stdout, stderr, ended } = demultiplex(
      sourceOf([...frames, [2, Buffer.from("seen")] as const].map((frame) => encode([frame]))),
      {
        isOutput: async () => true,
      },
    );
    stdout.destroy();
    const chunks: Buffer[] = [];
    for await (const chunk of stderr) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).toString()).toBe("seen");
    expect(await ended).toBe("complete");
  });

  it("asks whether the only line is output, and drops it if not", async () => {
    const report = encode([[1, Buffer.from("OCI runtime exec failed\r\n")]]);
    const asked: string[] = [];
    const not = async (line: string): Promise<boolean> => asked.push(line) < 0;
    expect(await collect([report], "end", not as () => Promise<boolean>)).toEqual({ out: "", err: "", how: "complete" });
    expect(await collect(slice(report, [3]), "end", not as () => Promise<boolean>)).toEqual({ out: "", err: "", how: "complete" });
    expect(asked).toEqual(["OCI runtime exec failed", "OCI runtime exec failed"]);
    expect((await collect([report], "end")).out).toBe("OCI runtime exec failed\r\n");
  });

  it("asks nothing about output that goes on, or does not end like a report", async () => {
    const never = async (): Promise<boolean> => {
      throw new Error("asked");
    };
    const line = Buffer.from("HTTP/1.1 200 OK\r\n");
    expect(
      (
        await collect(
          [
            encode([
              [1, line],
              [1, Buffer.from("x")],
            ]),
          ],
          "end",
          never,
        )
      ).out,
    ).toBe("HTTP/1.1 200 OK\r\nx");
    expect(
      (
        await collect(
          [
            encode([
              [2, Buffer.from("e")],
              [1, line],
            ]),
          ],
          "end",
          never,
        )
      ).out,
    ).toBe("HTTP/1.1 200 OK\r\n");
    expect((await collect([encode([[1, Buffer.from("x\n")]])], "end", never)).out).toBe("x\n");
    expect(
      (
        await collect(
          [
            encode([
              [1, Buffer.alloc(0)],
              [1, line],
            ]),
          ],
          "end",
          never,
        )
      ).out,
    ).toBe("HTTP/1.1 200 OK\r\n");
  });

  it("lets a line go that nothing follows for a while", async () => {
    let open = true;
    const source = new Duplex({ read: () => undefined, write: (_chunk, _encoding, callback) => callback() });
    const { stdout } = demultiplex(source, { isOutput: async () => open });
    source.push(encode([[1, Buffer.from("ready\r\n")]]));
    const [chunk] = (await new Promise<Buffer[]>((resolve) => stdout.once("data", (each: Buffer) => resolve([each])))) as [Buffer];
    open = false;
    expect(chunk.toString()).toBe("ready\r\n");
    source.destroy();
  });
});
