/** Reads names that end in NUL from chunks of bytes, without the "./" in front and the slash behind that tools put there. */
export function createNameReader(onName: (name: string) => void): (chunk: Buffer) => boolean {
  let rest = Buffer.alloc(0);
  return (chunk) => {
    const bytes = rest.byteLength === 0 ? chunk : Buffer.concat([rest, chunk]);
    let from = 0;
    for (let at = bytes.indexOf(0); at !== -1; at = bytes.indexOf(0, from)) {
      onName(bytes.toString("utf8", from, at).replace(/^\.\//, "").replace(/\/$/, ""));
      from = at + 1;
    }
    rest = Buffer.from(bytes.subarray(from));
    return true;
  };
}
