const BLOCK = 512;
const NAME_BYTES = 100;

/**
 * What stands before a member's content in a tar that every tar reads alike: the names' bytes as they are, long ones in GNU's
 * way, for busybox passes over extended headers. No owner, no time.
 */
export function tarHeader(
  path: string,
  { size, mode, directory }: { readonly size: number; readonly mode: number; readonly directory: boolean },
): Uint8Array {
  const name = Buffer.from(directory ? `${path}/` : path);
  const own = block(name.subarray(0, NAME_BYTES), { size, mode, type: directory ? "5" : "0" });
  if (name.byteLength <= NAME_BYTES) return own;
  const long = Buffer.concat([name, Buffer.alloc(1)]);
  return Buffer.concat([
    block(Buffer.from("././@LongLink"), { size: long.byteLength, mode: 0, type: "L" }),
    long,
    tarPadding(long.byteLength),
    own,
  ]);
}

/** What fills a content of that size up to a whole block. */
export function tarPadding(size: number): Uint8Array {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
}

export const TAR_END: Uint8Array = Buffer.alloc(2 * BLOCK);

function block(name: Uint8Array, { size, mode, type }: { readonly size: number; readonly mode: number; readonly type: string }): Buffer {
  const header = Buffer.alloc(BLOCK);
  header.set(name);
  header.write(
    `${octal(mode, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0${octal(size, 11)}\0${octal(0, 11)}\0        ${type}`,
    NAME_BYTES,
    "latin1",
  );
  header.write("ustar  \0", 257, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)}\0 `, 148, "latin1");
  return header;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0");
}
