/** Images that the person adds to a message, and the bytes of those that were. */
import type { Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import * as v from "valibot";
import { EntryId } from "../../shared/human/entry.ts";
import { HUMAN_LIMITS } from "../../shared/human/limits.ts";
import type { ImageAnswer } from "../../shared/human/page.ts";
import type { PageConversation } from "../desk/page-conversation.ts";
import { ifReachable } from "./if-reachable.ts";
import { failure, methodNotAllowed, notFound } from "./route-answers.ts";

const TOO_LARGE = `An image has at most ${HUMAN_LIMITS.imageBytes / 1024 / 1024} MiB: make it smaller.`;
const OTHER_KIND = "Expected a PNG, JPEG, GIF or WebP image, and the bytes are none of these.";

/** Should a browser show the bytes as a document all the same, it runs nothing and loads nothing. */
const AS_BYTES = { "content-security-policy": "default-src 'none'; sandbox", "content-disposition": "attachment" };

/** Behind the checks of every route of the page's API. */
export function mountImages(app: Hono, conversation: PageConversation | null): void {
  const limit = bodyLimit({ maxSize: HUMAN_LIMITS.imageBytes, onError: (c) => failure(c, 413, TOO_LARGE) });
  app.post("/api/images", limit, (c) => put(c, conversation));
  app.get("/api/images/:id", (c) => get(c, conversation));
  app.all("/api/images", (c) => methodNotAllowed(c, "POST"));
  app.all("/api/images/:id", (c) => methodNotAllowed(c, "GET"));
}

/** The type that is given keeps forms out (they can send none of these); what the image is, its bytes say. */
async function put(c: Context, conversation: PageConversation | null): Promise<Response> {
  const type = c.req.header("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "none";
  if (!type.startsWith("image/")) return failure(c, 415, `Expected content type image/…, got ${type}.`);
  return ifReachable(c, conversation, async (open) => {
    const stored = await open.putImage(new Uint8Array(await c.req.arrayBuffer()));
    if (stored.outcome === "kept") return c.json({ image: stored.image } satisfies ImageAnswer);
    return stored.outcome === "too_large" ? failure(c, 413, TOO_LARGE) : failure(c, 415, OTHER_KIND);
  });
}

async function get(c: Context, conversation: PageConversation | null): Promise<Response> {
  const id = v.safeParse(EntryId, c.req.param("id"));
  if (!id.success) return notFound(c);
  return ifReachable(c, conversation, async (open) => {
    const image = await open.image(id.output);
    if (image === null) return failure(c, 404, "This image is not kept any more.");
    return c.body(new Uint8Array(image.bytes), 200, { ...AS_BYTES, "content-type": image.mimeType });
  });
}
