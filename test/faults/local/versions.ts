/** Content that tells which version it is, in every part of it. */
export function versionOf(version: number, bytes: number): Uint8Array {
  return Buffer.alloc(bytes, String(version).padStart(8, "0"));
}

/** Which version it is; undefined when it is none of that size, but torn. */
export function versionIn(data: Uint8Array, bytes: number): number | undefined {
  const version = Number(Buffer.from(data.subarray(0, 8)).toString());
  return data.byteLength === bytes && Number.isInteger(version) && Buffer.compare(versionOf(version, bytes), data) === 0
    ? version
    : undefined;
}
