/** UTF-8 for small bodies inside frames (WP24), made of the host's own converters: this folder sees no platform types. */

/** `decode` is strict and keeps a byte order mark, so that `encode` gives the same bytes back. */
export interface Utf8 {
  /** Undefined for bytes that are not UTF-8. */
  decode(bytes: Uint8Array): string | undefined;
  encode(text: string): Uint8Array;
}

interface Host {
  readonly TextDecoder: new (label: "utf-8", options: { fatal: true; ignoreBOM: true }) => { decode(bytes: Uint8Array): string };
  readonly TextEncoder: new () => { encode(text: string): Uint8Array };
}

export function createUtf8({ TextDecoder, TextEncoder }: Host): Utf8 {
  const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const encoder = new TextEncoder();
  return {
    decode(bytes) {
      try {
        return strict.decode(bytes);
      } catch {
        return undefined; // Not UTF-8: it goes as bytes.
      }
    },
    encode: (text) => encoder.encode(text),
  };
}
