import { expect, test } from "vitest";
import { CLOSE } from "../shared/wire/close-codes.ts";
import { LIMITS } from "../shared/wire/limits.ts";
import { PROTOCOL } from "../shared/wire/version.ts";

/** Numbers the other side of a link relies on. To change one is to change the protocol: think of the version first. */
test("the limits of the link are these", () => {
  expect(LIMITS).toEqual({
    chunkBytes: 262_144,
    controlBytes: 1_048_576,
    requestBytes: 4_194_304,
    heldBytes: 33_554_432,
    inlineBytes: 16_384,
    windowBytes: 1_048_576,
    exchanges: 64,
    perPrincipal: 32,
    headBytes: 8_192,
    silenceMs: 90_000,
    lifeMs: 3_600_000,
    holdMs: 10_000,
    pongAgeMs: 60_000,
    commentMs: 15_000,
    callMs: 20_000,
    helloMs: 10_000,
  });
});

test("the close codes are these", () => {
  expect(CLOSE).toEqual({ normal: 1000, goingAway: 1001, protocolError: 1002, refused: 4099 });
});

test("the protocol's version is 1", () => {
  expect(PROTOCOL).toEqual({ min: 1, max: 1 });
});
