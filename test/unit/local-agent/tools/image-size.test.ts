import { expect, test } from "vitest";
import { imageObjection } from "../../../../local-agent/tools/image-size.ts";

const bytes = (...parts: readonly (string | readonly number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : Buffer.from(part))));
const le16 = (value: number): number[] => [value & 255, value >> 8];
const be16 = (value: number): number[] => [value >> 8, value & 255];
const le24 = (value: number): number[] => [value & 255, (value >> 8) & 255, value >> 16];
const le32 = (value: number): number[] => [...le16(value & 0xffff), ...le16(value >>> 16)];

const HUGE = 16_000;

const jpeg = (side: number): Buffer =>
  bytes(
    [0xff, 0xd8, 0xff, 0xe1],
    be16(8),
    "Exif\0\0",
    [0xff, 0xff, 0xc4],
    be16(3),
    [0],
    [0xff, 0xc2],
    be16(7),
    [8],
    be16(side),
    be16(side),
    [0xff, 0xda],
  );
const gif = (screen: number, frame: number): Buffer =>
  bytes(
    "GIF89a",
    le16(screen),
    le16(screen),
    [0x80, 0, 0],
    "palett",
    [0x21, 0xf9, 4, 0, 0, 0, 0, 0],
    [0x2c],
    le16(0),
    le16(0),
    le16(frame),
    le16(frame),
    [0],
  );
const webp = (...chunks: Buffer[]): Buffer => bytes("RIFF", le32(0), "WEBP", ...chunks.map((chunk) => [...chunk]));
const vp8x = (side: number): Buffer => bytes("VP8X", le32(10), [0, 0, 0, 0], le24(side - 1), le24(side - 1));
const vp8 = (side: number): Buffer => bytes("VP8 ", le32(10), [0, 0, 0, 0x9d, 1, 0x2a], le16(side), le16(side));
const vp8l = (side: number): Buffer => bytes("VP8L", le32(5), [0x2f], le32(((side - 1) | ((side - 1) << 14)) >>> 0), [0]);
const anmf = (side: number): Buffer => bytes("ANMF", le32(16), le24(0), le24(0), le24(side - 1), le24(side - 1), le24(0), [0]);

test.each([
  ["image/jpeg", jpeg(HUGE), jpeg(600)],
  ["image/gif", gif(HUGE, 1), gif(600, 500)],
  ["image/gif", gif(1, HUGE), gif(1, 500)],
  ["image/webp", webp(vp8x(HUGE)), webp(vp8x(600))],
  ["image/webp", webp(vp8(HUGE)), webp(vp8(600))],
  ["image/webp", webp(vp8l(HUGE)), webp(vp8l(600))],
  ["image/webp", webp(vp8x(1), vp8l(HUGE)), webp(vp8x(1), vp8l(600))],
  ["image/webp", webp(vp8x(1), anmf(1), vp8(HUGE)), webp(vp8x(1), anmf(600), vp8(600))],
])("[TL25] %s: the largest size its headers announce counts", (mimeType, huge, fine) => {
  expect(imageObjection(huge, mimeType)).toContain("16000 x 16000 pixels");
  expect(imageObjection(fine, mimeType)).toBeUndefined();
});

test("[TL25] headers that end early or say nothing are an objection, never an error", () => {
  for (const [mimeType, whole] of [
    ["image/jpeg", jpeg(600)],
    ["image/gif", gif(600, 500)],
    ["image/webp", webp(vp8(600))],
  ] as const) {
    for (let length = 0; length < 24; length += 1) {
      expect([mimeType, length, imageObjection(whole.subarray(0, length), mimeType)]).toEqual([
        mimeType,
        length,
        expect.stringContaining("cannot be read"),
      ]);
    }
  }
  expect(imageObjection(Buffer.alloc(100), "image/tiff")).toContain("cannot be read");
});
