/**
 * Texts that a client keeps for us and brings back: readable, but made by this agent alone (HMAC-SHA-256), for one purpose and bound
 * to things that the text does not say. Whatever comes back is hostile until it opens.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { canonicalJson, isJsonObject, parseJson, type JsonObject } from "../../../shared/json.ts";
import type { Clock } from "../../../shared/ports.ts";

export interface Seal {
  /**
   * @param bound what it is good for, such as the client's id; the same has to be given to open it
   * @param lifeMs how long it opens
   */
  seal(purpose: string, bound: readonly string[], content: JsonObject, lifeMs: number): string;
  /** Null: made by somebody else, for something else, changed, or too old. */
  open(purpose: string, bound: readonly string[], text: string): JsonObject | null;
}

const MIN_KEY_BYTES = 32;
/** Nothing of ours is longer; hashing more would be a favour to a flood. */
const MAX_CHARS = 256 * 1024;

/** @throws RangeError when the key is too short to protect anything */
export function createSeal(key: Uint8Array, clock: Clock): Seal {
  if (key.byteLength < MIN_KEY_BYTES) throw new RangeError(`a signing key has at least ${MIN_KEY_BYTES} bytes, got ${key.byteLength}`);
  const sign = (purpose: string, bound: readonly string[], body: string): Buffer =>
    createHmac("sha256", key)
      .update(JSON.stringify([purpose, ...bound, body]))
      .digest();
  return {
    seal(purpose, bound, content, lifeMs) {
      const body = Buffer.from(JSON.stringify([clock.now() + lifeMs, content])).toString("base64url");
      return `${body}.${sign(purpose, bound, body).toString("base64url")}`;
    },
    open(purpose, bound, text) {
      if (text.length > MAX_CHARS) return null;
      const [body, signature, ...rest] = text.split(".");
      if (body === undefined || signature === undefined || rest.length > 0) return null;
      const expected = sign(purpose, bound, body);
      const given = Buffer.from(signature, "base64url");
      if (given.byteLength !== expected.byteLength || !timingSafeEqual(given, expected)) return null;
      const read = parseJson(Buffer.from(body, "base64url").toString("utf8"));
      if (!Array.isArray(read)) return null;
      const [until, content] = read as unknown[];
      return typeof until === "number" && clock.now() < until && isJsonObject(content) ? content : null;
    },
  };
}

/** The same for equal requests, whatever the order of their members. */
export function digestOf(method: string, params: JsonObject): string {
  return createHash("sha256")
    .update(canonicalJson([method, params]))
    .digest("base64url");
}
