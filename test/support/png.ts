/** PNG files made of noise, which does not compress (a picture of a known size in bytes), or of nothing. */
import { randomBytes } from "node:crypto";
import { crc32, deflateSync } from "node:zlib";

export function noisePng(width: number, height: number): Buffer {
  const rows = Buffer.concat(Array.from({ length: height }, () => Buffer.concat([Buffer.from([0]), randomBytes(width * 3)])));
  // Eight bits a channel, RGB.
  return png(width, height, [8, 2], rows);
}

/** All black, one bit a pixel: millions of pixels in a few kilobytes. */
export function blackPng(width: number, height: number): Buffer {
  return png(width, height, [1, 0], Buffer.alloc((Math.ceil(width / 8) + 1) * height));
}

function png(width: number, height: number, depthAndColour: readonly number[], rows: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set(depthAndColour, 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", deflateSync(rows)), chunk("IEND", Buffer.alloc(0))]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
