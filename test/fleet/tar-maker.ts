const BLOCK = 512;

export interface RawMember {
  readonly name: string | Uint8Array;
  readonly content?: string | Uint8Array;
  /** Where it lies about its content. */
  readonly size?: number;
  /** The size field as it is. */
  readonly rawSize?: Uint8Array;
  readonly type?: string;
  readonly link?: string;
  readonly mode?: number;
  readonly rawTime?: Uint8Array;
  readonly badSum?: boolean;
}

/** One member, as somebody hostile would write it: nothing is checked. */
export function rawMember({ name, content = "", size, rawSize, type = "0", link = "", mode = 0o644, rawTime, badSum }: RawMember): Buffer {
  const data = Buffer.from(content);
  const header = Buffer.alloc(BLOCK);
  Buffer.from(name).copy(header, 0, 0, 100);
  header.write(`${mode.toString(8).padStart(7, "0")}\0`, 100);
  header.write("0001750\0", 108);
  header.write("0001750\0", 116);
  header.write(`${(size ?? data.byteLength).toString(8).padStart(11, "0")}\0`, 124);
  if (rawSize !== undefined) Buffer.from(rawSize).copy(header, 124);
  header.write("14000000000\0", 136);
  if (rawTime !== undefined) Buffer.from(rawTime).copy(header, 136);
  header.write("        ", 148);
  header.write(type, 156);
  header.write(link, 157);
  header.write("ustar\x0000", 257, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0) + (badSum === true ? 1 : 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return Buffer.concat([header, data, Buffer.alloc((BLOCK - (data.byteLength % BLOCK)) % BLOCK)]);
}

export const END = Buffer.alloc(2 * BLOCK);

export function rawTar(...members: readonly RawMember[]): Buffer {
  return Buffer.concat([...members.map(rawMember), END]);
}

/** A PAX record with its own length in front. */
export function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  let length = Buffer.byteLength(rest) + 1;
  while (`${length}`.length + Buffer.byteLength(rest) !== length) length += 1;
  return `${length}${rest}`;
}
