/**
 * Width and height an image file announces, read from its headers before anything decodes it: a few kilobytes can announce
 * gigabytes of pixels. Where a format states sizes twice (a canvas and its frame) the larger counts. Pure.
 * Sources: PNG §11.2.1, GIF89a §18 and §20, WebP container (RFC 9649 §2), JPEG (ITU-T T.81 §B.2), BITMAPCOREHEADER/BITMAPINFOHEADER.
 */

/** Pixels a worker may decode: every camera's pictures and a 5K screen several times over, in half a gigabyte. */
const MAX_PIXELS = 40_000_000;
/** Pi converts BMP in the host itself, where everybody waits. */
const MAX_BMP_PIXELS = 4_200_000;

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Why the image is not decoded, as a clause; undefined when it is. `mimeType`: what its first bytes say. */
export function imageObjection(bytes: Buffer, mimeType: string): string | undefined {
  const size = announcedSize(bytes, mimeType);
  if (size === undefined) return "is no whole image: its width and height cannot be read";
  const most = mimeType === "image/bmp" ? MAX_BMP_PIXELS : MAX_PIXELS;
  if (size.width * size.height <= most) return undefined;
  const advice = mimeType === "image/bmp" ? "convert it to PNG, or make it smaller" : "make it smaller";
  return `is an image of ${size.width} x ${size.height} pixels, and at most ${most / 1_000_000} million are shown: ${advice} first`;
}

/** Undefined when the headers end too early or make no sense. */
function announcedSize(bytes: Buffer, mimeType: string): Size | undefined {
  try {
    let largest: Size | undefined;
    for (const { width, height } of READERS[mimeType]?.(bytes) ?? []) {
      largest = { width: Math.max(width, largest?.width ?? 0), height: Math.max(height, largest?.height ?? 0) };
    }
    return largest;
  } catch (error) {
    if (error instanceof RangeError) return undefined; // Read beyond the end.
    throw error;
  }
}

const READERS: Readonly<Record<string, (bytes: Buffer) => Iterable<Size>>> = {
  "image/png": (bytes) => [{ width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }],
  "image/bmp": (bytes) => {
    if (bytes.readUInt32LE(14) === 12) return [{ width: bytes.readUInt16LE(18), height: bytes.readUInt16LE(20) }];
    return [{ width: Math.abs(bytes.readInt32LE(18)), height: Math.abs(bytes.readInt32LE(22)) }];
  },
  "image/gif": gifSizes,
  "image/jpeg": jpegSizes,
  "image/webp": webpSizes,
};

/** The screen and the first frame, which is the one that is shown. */
function* gifSizes(bytes: Buffer): Generator<Size> {
  yield { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
  const flags = bytes.readUInt8(10);
  let offset = 13 + ((flags & 0x80) === 0 ? 0 : 3 << ((flags & 7) + 1));
  // Extensions: introducer, label, then blocks with their length before them, until an empty one.
  while (bytes.readUInt8(offset) === 0x21) {
    offset += 2;
    while (bytes.readUInt8(offset) !== 0) offset += 1 + bytes.readUInt8(offset);
    offset += 1;
  }
  if (bytes.readUInt8(offset) === 0x2c) yield { width: bytes.readUInt16LE(offset + 5), height: bytes.readUInt16LE(offset + 7) };
}

/** Every frame header (SOF0 to SOF15) before the first scan. Decoders skip what is between segments. */
function* jpegSizes(bytes: Buffer): Generator<Size> {
  let offset = 2;
  while (!isScanOrEnd(bytes.readUInt16BE(offset))) {
    const marker = bytes.readUInt16BE(offset);
    if (isFrameHeader(marker)) yield { width: bytes.readUInt16BE(offset + 7), height: bytes.readUInt16BE(offset + 5) };
    offset += hasLength(marker) ? 2 + bytes.readUInt16BE(offset + 2) : 1;
  }
}

function isScanOrEnd(marker: number): boolean {
  return marker === 0xffda || marker === 0xffd9;
}

/** 0xc4, 0xc8 and 0xcc among them are tables. */
function isFrameHeader(marker: number): boolean {
  return marker >= 0xffc0 && marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker);
}

/** Not for what is no marker (filling, data) or one that stands alone (RST0 to RST7, SOI). */
function hasLength(marker: number): boolean {
  return marker >= 0xffc0 && marker < 0xffff && !(marker >= 0xffd0 && marker <= 0xffd8);
}

/** Canvas, still images and animation frames of all chunks. */
function* webpSizes(bytes: Buffer): Generator<Size> {
  for (let offset = 12; offset + 8 <= bytes.length;) {
    const type = bytes.toString("latin1", offset, offset + 4);
    const length = bytes.readUInt32LE(offset + 4);
    const data = offset + 8;
    if (type === "VP8X") yield { width: bytes.readUIntLE(data + 4, 3) + 1, height: bytes.readUIntLE(data + 7, 3) + 1 };
    if (type === "VP8 ") yield { width: bytes.readUInt16LE(data + 6) & 0x3fff, height: bytes.readUInt16LE(data + 8) & 0x3fff };
    if (type === "VP8L") {
      const bits = bytes.readUInt32LE(data + 1);
      yield { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    if (type === "ANMF") {
      yield { width: bytes.readUIntLE(data + 6, 3) + 1, height: bytes.readUIntLE(data + 9, 3) + 1 };
      offset = data + 16; // What the frame holds follows as chunks of its own.
      continue;
    }
    offset = data + length + (length % 2);
  }
}
