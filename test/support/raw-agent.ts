/** An agent that speaks the link frame by frame, so that a test decides what it says and what it leaves out. */
import { randomUUID } from "node:crypto";
import { WebSocket } from "ws";
import { decodeData, encodeData } from "../../shared/wire/codec.ts";
import type { Hello, RelayFrame } from "../../shared/wire/frames.ts";
import { PROTOCOL } from "../../shared/wire/version.ts";
import { depositsFor } from "./deposits.ts";
import { AGENT_KEY } from "./worker-runtime.ts";

type FrameOf<T extends RelayFrame["t"]> = Extract<RelayFrame, { t: T }>;

export class RawAgent {
  readonly socket: WebSocket;
  readonly frames: RelayFrame[] = [];
  readonly data: { x: number; seq: number; bytes: Uint8Array }[] = [];
  closeCode: number | undefined;
  readonly #origin: string;
  #wake: () => void = () => undefined;

  private constructor(origin: string, socket: WebSocket) {
    this.#origin = origin;
    this.socket = socket;
    socket.on("message", (message: Buffer, isBinary: boolean) => {
      if (isBinary) {
        const frame = decodeData(message);
        if (frame.ok) this.data.push({ ...frame.value, bytes: frame.value.bytes.slice() });
      } else if (message.toString() !== "pong") this.frames.push(JSON.parse(message.toString()) as RelayFrame);
      this.#wake();
    });
    socket.on("close", (code) => {
      this.closeCode = code;
      this.#wake();
    });
    socket.on("error", () => undefined);
  }

  static async dial(origin: string, key = AGENT_KEY, headers: Record<string, string> = {}): Promise<RawAgent> {
    const socket = new WebSocket(`${origin.replace("http", "ws")}/agent`, { headers: { authorization: `Bearer ${key}`, ...headers } });
    const agent = new RawAgent(origin, socket);
    await new Promise<void>((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", reject);
    });
    return agent;
  }

  hello(changes: Partial<Hello> = {}): this {
    return this.send({
      t: "hello",
      versions: PROTOCOL,
      instance: randomUUID(),
      host: "host-a",
      hostName: "machine A",
      takeOver: false,
      epoch: null,
      begun: [],
      deposits: depositsFor([this.#origin]),
      ...changes,
    });
  }

  send(frame: object): this {
    this.socket.send(JSON.stringify(frame));
    return this;
  }

  sendData(x: number, seq: number, text: string): this {
    this.socket.send(encodeData(x, seq, new TextEncoder().encode(text)));
    return this;
  }

  /** Waits for a frame of this type (from the beginning), or throws after `withinMs`. */
  async next<T extends RelayFrame["t"]>(type: T, withinMs = 5000, skip = 0): Promise<FrameOf<T>> {
    return this.#until(() => this.frames.filter((frame): frame is FrameOf<T> => frame.t === type)[skip], `frame ${type}`, withinMs);
  }

  async closed(withinMs = 15_000): Promise<number> {
    return this.#until(() => this.closeCode, "close", withinMs);
  }

  /** As a process that dies: no close frame, no bye. */
  vanish(): void {
    this.socket.terminate();
  }

  async #until<T>(look: () => T | undefined, what: string, withinMs: number): Promise<T> {
    const deadline = Date.now() + withinMs;
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      const left = deadline - Date.now();
      if (left <= 0) throw new Error(`no ${what} within ${withinMs} ms; got ${JSON.stringify(this.frames.map((frame) => frame.t))}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }
}
