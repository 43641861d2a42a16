import assert from "node:assert/strict";
import { type ContractContext, casesOf } from "../contract-case.js";

async function roundTrip({ environment, path, write }: ContractContext, content: Uint8Array): Promise<void> {
  await write("content.bin", content);
  const read = await environment.readFile(path("content.bin"));
  assert.equal(read.size, content.byteLength);
  assert.ok(Buffer.from(read.data).equals(content), `${content.byteLength} bytes came back changed`);
}

/** Bytes without a pattern that a text filter, a block size or a line buffer would leave alone. */
function noise(length: number): Uint8Array {
  let state = length + 1;
  // A prime length, so that the blocks of the repetition never fall together with those of a disk or a link.
  const block = Uint8Array.from({ length: Math.min(length, 65_521) }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 24;
  });
  return length === block.byteLength ? block : Buffer.alloc(length, block);
}

export const contentCases = casesOf("content", [
  {
    name: "content of any size comes back byte for byte",
    id: "C19",
    async run(context) {
      for (const size of [0, 1, 511, 512, 4095, 4096, 4097, 65_535, 65_536, 65_537, 1_048_576]) await roundTrip(context, noise(size));
    },
  },
  {
    name: "16 MiB come back byte for byte",
    id: "C19",
    async run(context) {
      await roundTrip(context, noise(16 * 1024 * 1024));
    },
  },
  {
    name: "every byte value comes back, alone and in order",
    id: "C19",
    quick: true,
    async run(context) {
      await roundTrip(
        context,
        Uint8Array.from({ length: 256 }, (_, value) => value),
      );
      for (const value of [0, 10, 13, 26, 27, 255]) await roundTrip(context, Uint8Array.of(value));
    },
  },
  {
    name: "line endings, BOMs and a missing final line feed stay as they are",
    id: "C04",
    quick: true,
    async run(context) {
      for (const text of ["a\r\nb\nc\rd", "\ufeffBOM first\n", "\n", "\r", "no final line feed", "trailing  \n\n\n", "\r\n\r\n"]) {
        await roundTrip(context, Buffer.from(text));
      }
      await roundTrip(context, Buffer.from("\xff\xfeU\0T\0F\0", "latin1"));
    },
  },
  {
    name: "invalid UTF-8 stays as it is",
    id: "C07",
    async run(context) {
      for (const bytes of ["\x80", "\xc3", "\xf0\x9f\x98", "\xed\xa0\x80", "a\xffb"])
        await roundTrip(context, Buffer.from(bytes, "latin1"));
    },
  },
  {
    name: "content that looks like commands, markers or terminators is only content",
    id: "B06",
    async run(context) {
      for (const text of ["exit 1\n", "EOF\n", "'\nEOF\n'; exit 3\n", "$(id)`id`\\", "\0\0\n0\n", "__GLOVEBOX_END__ 0\n", "-n", "\n.\n"]) {
        await roundTrip(context, Buffer.from(text));
      }
    },
  },
]);
