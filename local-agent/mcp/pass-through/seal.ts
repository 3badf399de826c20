/**
 * Texts that a client keeps for us and brings back: made and read by this agent alone (AES-256-GCM), for one purpose and bound to things
 * that the text does not say. A client must not read them either: what the person told an upstream is in them. Whatever comes back is
 * hostile until it opens.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes, type DecipherGCM } from "node:crypto";
import { canonicalJson, isJsonObject, parseJson, type JsonObject } from "../../../shared/json.ts";
import type { Clock } from "../../../shared/ports.ts";

export interface Seal {
  /**
   * @param bound what it is good for, such as the client's id; the same has to be given to open it
   * @param lifeMs how long it opens
   * @throws RangeError when the content is larger than what is read again
   */
  seal(purpose: string, bound: readonly string[], content: JsonObject, lifeMs: number): string;
  /** Null: made by somebody else, for something else, changed, or too old. */
  open(purpose: string, bound: readonly string[], text: string): JsonObject | null;
}

const MIN_KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Nothing of ours is longer; reading more would be a favour to a flood. */
const MAX_CHARS = 256 * 1024;

/** @throws RangeError when the key is too short to protect anything */
export function createSeal(key: Uint8Array, clock: Clock): Seal {
  if (key.byteLength < MIN_KEY_BYTES) throw new RangeError(`a sealing key has at least ${MIN_KEY_BYTES} bytes, got ${key.byteLength}`);
  const cipherKey = new Uint8Array(hkdfSync("sha256", key, "", "pimcp pass-through", 32));
  const goodFor = (purpose: string, bound: readonly string[]): Buffer => Buffer.from(JSON.stringify([purpose, ...bound]));
  return {
    seal(purpose, bound, content, lifeMs) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", cipherKey, nonce).setAAD(goodFor(purpose, bound));
      const hidden = cipher.update(JSON.stringify([clock.now() + lifeMs, content]), "utf8");
      const text = Buffer.concat([nonce, hidden, cipher.final(), cipher.getAuthTag()]).toString("base64url");
      if (text.length > MAX_CHARS) throw new RangeError(`what its client would have to keep is longer than ${MAX_CHARS} characters`);
      return text;
    },
    open(purpose, bound, text) {
      const bytes = text.length > MAX_CHARS ? Buffer.alloc(0) : Buffer.from(text, "base64url");
      if (bytes.byteLength < NONCE_BYTES + TAG_BYTES) return null;
      const decipher = createDecipheriv("aes-256-gcm", cipherKey, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
        .setAAD(goodFor(purpose, bound))
        .setAuthTag(bytes.subarray(-TAG_BYTES));
      const read = parseJson(decrypted(decipher, bytes.subarray(NONCE_BYTES, -TAG_BYTES)));
      if (!Array.isArray(read)) return null;
      const [until, content] = read as unknown[];
      return typeof until === "number" && clock.now() < until && isJsonObject(content) ? content : null;
    },
  };
}

/** Empty: it was not made with this key, or for something else. */
function decrypted(decipher: DecipherGCM, hidden: Uint8Array): string {
  const text = decipher.update(hidden);
  try {
    return Buffer.concat([text, decipher.final()]).toString("utf8");
  } catch {
    return "";
  }
}

/** The same for equal requests, whatever the order of their members. */
export function digestOf(method: string, params: JsonObject): string {
  return createHash("sha256")
    .update(canonicalJson([method, params]))
    .digest("base64url");
}
