/** Node's UTF-8 for small bodies inside frames. */
import type { Utf8 } from "../../shared/wire/inline.ts";

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

export const utf8: Utf8 = {
  decode(bytes) {
    try {
      return strict.decode(bytes);
    } catch {
      return undefined; // Not UTF-8: it goes as bytes.
    }
  },
  encode: (text) => encoder.encode(text),
};
