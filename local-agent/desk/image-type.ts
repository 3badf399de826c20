/** What an image is, by its first bytes: what a browser or a file name says of it is not believed. */
import type { HumanImage } from "../../shared/human/entry.ts";

/** Undefined: none of the kinds that clients can be handed. */
export function imageType(bytes: Uint8Array): HumanImage["mimeType"] | undefined {
  if (startsWith(bytes, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return "image/png";
  if (startsWith(bytes, [0xff, 0xd8, 0xff])) return "image/jpeg";
  if (startsWith(bytes, ascii("GIF87a")) || startsWith(bytes, ascii("GIF89a"))) return "image/gif";
  return startsWith(bytes, ascii("RIFF")) && startsWith(bytes.subarray(8), ascii("WEBP")) ? "image/webp" : undefined;
}

function startsWith(bytes: Uint8Array, start: readonly number[]): boolean {
  return start.every((byte, index) => bytes[index] === byte);
}

function ascii(text: string): number[] {
  return Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
}
