import { Buffer } from "node:buffer";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { decodeAgentFrame, decodeData, decodeRelayFrame, encodeControl, encodeData } from "../../../../shared/wire/codec.ts";

/**
 * Frames written down once for version 1. An accepted one must stay accepted and mean the same, a rejected one must stay
 * rejected, as long as version 1 is spoken: old agents and old relays send them.
 */
const corpus = join(import.meta.dirname, "../../../fixtures/wire/v1");

interface ControlCase {
  readonly sender: "agent" | "relay";
  readonly text: string;
}
interface DataCase {
  readonly x: number;
  readonly seq: number;
  readonly payload: string;
}

const decode = ({ sender, text }: ControlCase) => (sender === "agent" ? decodeAgentFrame(text) : decodeRelayFrame(text));
const controls = (kind: string) => namesIn(kind).filter((name) => !existsSync(join(corpus, kind, `${name}.hex`)));
const datas = (kind: string) => namesIn(kind).filter((name) => existsSync(join(corpus, kind, `${name}.hex`)));

describe("a recorded frame", () => {
  test.each(controls("accepted"))("[WP3] %s is accepted and means what it meant", (name) => {
    const { decoded, ...control } = read<ControlCase & { decoded: Parameters<typeof encodeControl>[0] }>("accepted", name);
    expect(decode(control)).toEqual({ ok: true, value: decoded });
    expect(decode({ ...control, text: encodeControl(decoded) })).toEqual({ ok: true, value: decoded });
  });

  test.each(controls("rejected"))("[WP5] %s is rejected for its reason", (name) => {
    const { reason, ...control } = read<ControlCase & { reason: string }>("rejected", name);
    expect(decode(control)).toMatchObject({ ok: false, error: { reason } });
  });

  test.each(datas("accepted"))("[WP3] %s is accepted byte for byte", (name) => {
    const { x, seq, payload } = read<DataCase>("accepted", name);
    const bytes = new Uint8Array(Buffer.from(payload, "hex"));
    expect(decodeData(readHex("accepted", name))).toEqual({ ok: true, value: { x, seq, bytes } });
    expect(encodeData(x, seq, bytes)).toEqual(readHex("accepted", name));
  });

  test.each(datas("rejected"))("[WP5] %s is rejected for its reason", (name) => {
    expect(decodeData(readHex("rejected", name))).toMatchObject({ ok: false, error: { reason: read<{ reason: string }>("rejected", name).reason } });
  });

  test("exists for every type of frame", () => {
    const types = controls("accepted").map((name) => name.split("-").slice(0, 2).join(" "));
    expect([...new Set(types)].filter((type) => !type.includes("unknown")).toSorted()).toEqual([
      "agent bye",
      "agent call",
      "agent end",
      "agent got",
      "agent head",
      "agent hello",
      "agent reply",
      "relay ack",
      "relay bye",
      "relay call",
      "relay cancel",
      "relay reply",
      "relay request",
      "relay welcome",
    ]);
  });
});

function namesIn(kind: string): string[] {
  return readdirSync(join(corpus, kind))
    .filter((name) => name.endsWith(".json"))
    .map((name) => name.slice(0, -".json".length));
}

function read<T>(kind: string, name: string): T {
  return JSON.parse(readFileSync(join(corpus, kind, `${name}.json`), "utf8")) as T;
}

function readHex(kind: string, name: string): Uint8Array {
  return new Uint8Array(Buffer.from(readFileSync(join(corpus, kind, `${name}.hex`), "utf8").replace(/\s/g, ""), "hex"));
}
