import type { Content } from "../../index.js";

/** One piece of another server's answer, as it came: nothing of it has been checked. */
export type ForeignContent = Readonly<Record<string, unknown>>;

/** What a model can be given of it: text and images as they are, everything else in words. */
export function toContent(item: ForeignContent): Content {
  switch (item.type) {
    case "text":
      return text(string(item.text));
    case "image":
      return { type: "image", data: string(item.data), mimeType: string(item.mimeType) };
    case "audio":
      return text(`[audio, ${string(item.mimeType)}, ${decodedBytes(item.data)} bytes]`);
    case "resource_link":
      return text(`[link to ${string(item.name)}: ${string(item.uri)}${item.mimeType === undefined ? "" : `, ${string(item.mimeType)}`}]`);
    case "resource":
      return fromResource((item.resource ?? {}) as ForeignContent);
    default:
      return text(`[content of a kind that is not known here: ${string(item.type)}]`);
  }
}

function fromResource({ uri, mimeType, text: written, blob }: ForeignContent): Content {
  if (typeof written === "string") return text(`[${string(uri)}]\n${written}`);
  if (typeof blob === "string" && /^image\//.test(string(mimeType))) return { type: "image", data: blob, mimeType: string(mimeType) };
  return text(`[${string(uri)}, ${string(mimeType) || "binary"}, ${decodedBytes(blob)} bytes]`);
}

function text(value: string): Content {
  return { type: "text", text: value };
}

function string(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function decodedBytes(base64: unknown): number {
  return Math.floor((string(base64).replace(/=+$/, "").length * 3) / 4);
}
