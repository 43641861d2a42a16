/** A PNG of one red pixel, in base64. It passes through the read tool as it is. */
export const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

export function pixelFile(): Uint8Array {
  return new Uint8Array(Buffer.from(PIXEL, "base64"));
}
