/** Images in pieces, because the store takes no more at once. */
import type { HumanImage } from "../../shared/human/entry.ts";
import { HUMAN_LIMITS } from "../../shared/human/limits.ts";
import { StoreUnreachable, type HumanStore } from "../../shared/human/store.ts";
import { imageType } from "./image-type.ts";
import type { PutImage } from "./page-conversation.ts";

/** Rejects with `StoreUnreachable`; its message is for the person. Nothing of the image is kept on this machine. */
export async function putImage(store: HumanStore, bytes: Uint8Array, id: string): Promise<PutImage> {
  if (bytes.byteLength > HUMAN_LIMITS.imageBytes) return { outcome: "too_large" };
  const mimeType = imageType(bytes);
  if (mimeType === undefined) return { outcome: "not_an_image" };
  const image: HumanImage = { id, mimeType, bytes: bytes.byteLength };
  // A multiple of four characters a piece, so that the pieces are base64 on their own and together.
  const data = Buffer.from(bytes).toString("base64");
  const parts = Math.ceil(data.length / HUMAN_LIMITS.imagePartChars);
  try {
    for (let part = 0; part < parts; part += 1) {
      const piece = data.slice(part * HUMAN_LIMITS.imagePartChars, (part + 1) * HUMAN_LIMITS.imagePartChars);
      await store.ask("human.image.put", { image, part, parts, data: piece });
    }
  } catch (cause) {
    if (!(cause instanceof StoreUnreachable)) throw cause;
    throw new StoreUnreachable(IMAGES_WAIT, { cause });
  }
  return { outcome: "kept", image };
}

const IMAGES_WAIT = "An image can only be added when the relay is back. Words can be sent now; they wait on this machine.";

/** Base64 of the whole; null when it is gone, or was never whole. */
export async function getImage(store: HumanStore, id: string): Promise<string | null> {
  const first = await store.ask("human.image.get", { id, part: 0 });
  const pieces = [first.data];
  for (let part = 1; part < first.parts; part += 1) {
    const next = await store.ask("human.image.get", { id, part });
    if (next.parts !== first.parts) return null;
    pieces.push(next.data);
  }
  return first.parts === 0 ? null : pieces.join("");
}
