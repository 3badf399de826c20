/** What an image is, by its first bytes. Pure. */

/** The types that every provider of models takes. */
export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

const BEGINNINGS: readonly (readonly [ImageType, (head: string) => boolean])[] = [
  ["image/png", (head) => head.startsWith("\x89PNG\r\n\x1a\n")],
  ["image/jpeg", (head) => head.startsWith("\xff\xd8\xff")],
  ["image/gif", (head) => /^GIF8[79]a/.test(head)],
  ["image/webp", (head) => /^RIFF[^]{4}WEBP/.test(head)],
];
/** Of base64, enough for every beginning: twelve bytes. */
const HEAD_CHARS = 16;

/**
 * null: no image a model can be shown. What a server says of its type is not asked: a provider refuses an image of another type than it is
 * said to be, and then refuses every later turn of the conversation that holds it.
 */
export function imageType(base64: string): ImageType | null {
  let head: string;
  try {
    head = atob(base64.slice(0, HEAD_CHARS));
  } catch {
    return null;
  }
  return BEGINNINGS.find(([, begins]) => begins(head))?.[0] ?? null;
}
