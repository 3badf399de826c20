/** Which pasted, dropped or chosen files can go with a message. Pure. */
import { HumanImage } from "../shared/human/entry.ts";
import { HUMAN_LIMITS } from "../shared/human/limits.ts";

export const IMAGE_TYPES: readonly string[] = HumanImage.entries.mimeType.options;

export interface SortedFiles<F> {
  readonly images: readonly F[];
  /** Why others cannot, as one sentence; undefined: all can. */
  readonly problem: string | undefined;
}

/** `room`: how many more the message holds. The agent looks at the bytes; this only spares the way. */
export function sortFiles<F extends { readonly type: string; readonly size: number }>(files: readonly F[], room: number): SortedFiles<F> {
  const pictures = files.filter((file) => IMAGE_TYPES.includes(file.type));
  if (pictures.length < files.length) return { images: [], problem: "Only PNG, JPEG, GIF and WebP images can be sent." };
  if (pictures.some((file) => file.size > HUMAN_LIMITS.imageBytes))
    return { images: [], problem: "An image can be 5 MiB at most. Make it smaller and try again." };
  if (pictures.some((file) => file.size === 0)) return { images: [], problem: "That file is empty." };
  if (pictures.length > room)
    return { images: pictures.slice(0, Math.max(0, room)), problem: `A message holds ${HUMAN_LIMITS.imagesPerMessage} images.` };
  return { images: pictures, problem: undefined };
}
