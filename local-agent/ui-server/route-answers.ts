/** What the routes of the page have in common: how a body is taken, and how a request is refused. */
import type { Context, MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";

const MAX_BODY_BYTES = 64 * 1024;

/** A cross-site form can only send the three simple types, none of which is JSON. */
export const requireJson: MiddlewareHandler = async (c, next) => {
  const type = c.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  return type === "application/json" ? next() : failure(c, 415, `Expected content type application/json, got ${type ?? "none"}.`);
};

const tooLarge = (c: Context): Response => failure(c, 413, `The body is larger than ${MAX_BODY_BYTES} bytes.`);

/** Stands before whatever reads a JSON body. */
export const smallJson: readonly [MiddlewareHandler, MiddlewareHandler] = [requireJson, bodyLimit({ maxSize: MAX_BODY_BYTES, onError: tooLarge })];

export const notFound = (c: Context): Response => failure(c, 404, "There is nothing at this address.");

export function methodNotAllowed(c: Context, allow: string): Response {
  c.header("allow", allow);
  return failure(c, 405, `Only ${allow} is answered here.`);
}

export function failure(c: Context, status: 400 | 401 | 403 | 404 | 405 | 413 | 415 | 500 | 503, message: string): Response {
  return c.json({ error: message }, status);
}
