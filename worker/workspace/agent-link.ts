/**
 * The one agent's socket: hello, replacement, loss, and control calls. Frames of exchanges go to the tunnel.
 * The socket hibernates; what must outlive that is in its attachment.
 */
import { CLOSE, echoableCode } from "../../shared/wire/close-codes.ts";
import { decodeAgentFrame, encodeControl } from "../../shared/wire/codec.ts";
import type { AgentFrame, ByeFrame, CallFrame, Hello, RelayFrame } from "../../shared/wire/frames.ts";
import { LIMITS } from "../../shared/wire/limits.ts";
import { admit, type Holder } from "./admission.ts";

/** What the link tells and asks of the object. */
export interface AgentLinkEvents {
  /** A hello was admitted: keep what it says. Storage may be created here, never before. */
  readonly admitted: (hello: Hello, address: string) => void;
  readonly isRetired: (instance: string) => boolean;
  readonly retire: (instance: string) => void;
  /** Sends the welcome through `welcome` and then whatever else the exchanges need. */
  readonly up: (hello: Hello, welcome: (epoch: string, held: { x: number; next: number }[]) => void) => void;
  readonly lost: (how: "announced" | "unannounced") => void;
  readonly exchangeFrame: (frame: Extract<AgentFrame, { t: "got" | "head" | "end" }>) => void;
  readonly exchangeData: (message: ArrayBuffer) => void;
  readonly called: (call: CallFrame) => Promise<unknown>;
  readonly now: () => number;
}

interface Attachment {
  readonly phase: "new" | "current" | "done";
  readonly since: number;
  readonly address: string;
  readonly epoch?: string;
  readonly instance?: string;
  readonly host?: string;
  readonly hostName?: string;
}

const TAG = "agent";

export class AgentLink {
  readonly #ctx: DurableObjectState;
  readonly #events: AgentLinkEvents;
  /** Sockets that have not said hello; a pending timer keeps the object in memory, so each ends with its hello. */
  readonly #greeting = new Map<WebSocket, ReturnType<typeof setTimeout>>();
  #current: WebSocket | undefined;
  #heardAt = 0;

  constructor(ctx: DurableObjectState, events: AgentLinkEvents) {
    this.#ctx = ctx;
    this.#events = events;
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair("ping", "pong"));
    this.#current = ctx.getWebSockets(TAG).find((socket) => isOpen(socket) && attachmentOf(socket).phase === "current");
  }

  /** What the socket that outlived hibernation belongs to, if there is one. */
  get survivor(): { readonly epoch: string; readonly link: { readonly at: "up"; readonly instance: string } } | undefined {
    const { epoch, instance } = this.#current === undefined ? {} : attachmentOf(this.#current);
    return epoch === undefined || instance === undefined ? undefined : { epoch, link: { at: "up", instance } };
  }

  isConnected(): boolean {
    return this.#current !== undefined && isOpen(this.#current) && this.#isFresh(this.#current);
  }

  /** The upgrade, already authenticated by the Worker. */
  accept(request: Request): Response {
    const { 0: client, 1: socket } = new WebSocketPair();
    this.#ctx.acceptWebSocket(socket, [TAG]);
    const attachment: Attachment = { phase: "new", since: this.#events.now(), address: request.headers.get("cf-connecting-ip") ?? "" };
    socket.serializeAttachment(attachment);
    const expire = () => this.#dismiss(socket, bye("bad_frame", "No hello came in time.", true), CLOSE.protocolError);
    this.#greeting.set(socket, setTimeout(expire, LIMITS.helloMs));
    return new Response(null, { status: 101, webSocket: client });
  }

  /** [WP18] A link that has been silent for too long is lost, though its socket still looks open. Called before each use. */
  dropIfStale(): void {
    const socket = this.#current;
    if (socket !== undefined && (!isOpen(socket) || !this.#isFresh(socket))) this.#dismiss(socket, undefined, CLOSE.goingAway);
  }

  send(message: string | Uint8Array<ArrayBuffer>): void {
    if (this.#current === undefined || !isOpen(this.#current)) return;
    try {
      this.#current.send(message);
    } catch {
      // The socket died between the check and the send; its close event follows and the exchanges resume.
    }
  }

  sendFrame(frame: RelayFrame): void {
    this.send(encodeControl(frame));
  }

  /** [WP13] Ends the socket after a protocol error. Exchanges wait for the next one. */
  breakLink(detail: string): void {
    if (this.#current !== undefined) this.#dismiss(this.#current, bye("bad_frame", detail.slice(0, 500), true), CLOSE.protocolError);
  }

  /** [WP1] [WP21] Messages of the current socket count; a new one may only say hello; all others are ignored. */
  receive(socket: WebSocket, message: string | ArrayBuffer): void {
    const isCurrent = socket === this.#current;
    if (!isCurrent && attachmentOf(socket).phase !== "new") return;
    if (isCurrent) {
      this.#heardAt = this.#events.now();
      if (typeof message !== "string") return this.#events.exchangeData(message);
    }
    const frame = typeof message === "string" ? decodeAgentFrame(message) : undefined;
    if (frame?.ok === true) return isCurrent ? this.#dispatch(socket, frame.value) : this.#first(socket, frame.value);
    if (frame?.error.reason === "unknown_type" && isCurrent) return;
    this.#dismiss(
      socket,
      bye("bad_frame", frame === undefined ? "The first frame must be hello." : `${frame.error.reason}: ${frame.error.detail}`.slice(0, 500), true),
      CLOSE.protocolError,
    );
  }

  /** Always answers the close: an unanswered one reaches the agent ten seconds late. */
  closed(socket: WebSocket, code: number): void {
    try {
      socket.close(echoableCode(code));
    } catch {
      // Already closed on both sides.
    }
    this.#stopGreeting(socket);
    if (attachmentOf(socket).phase === "current") this.#leave(socket, "unannounced");
  }

  #first(socket: WebSocket, frame: AgentFrame): void {
    const older = [...this.#greeting.keys()].slice(0, [...this.#greeting.keys()].indexOf(socket));
    this.#stopGreeting(socket);
    if (frame.t !== "hello") return this.#dismiss(socket, bye("bad_frame", "The first frame must be hello.", true), CLOSE.protocolError);
    const admission = admit(frame, this.#holder(), this.#events.isRetired(frame.instance));
    if (!admission.admit) return this.#dismiss(socket, admission.bye, CLOSE.refused);
    this.#dismissOlder(older);
    const { address } = attachmentOf(socket);
    this.#events.admitted(frame, address);
    this.#replace(admission.retires);
    this.#current = socket;
    this.#heardAt = this.#events.now();
    this.#events.up(frame, (epoch, held) => {
      const { instance, host, hostName } = frame;
      socket.serializeAttachment({ phase: "current", since: this.#events.now(), address, epoch, instance, host, hostName } satisfies Attachment);
      this.sendFrame({ t: "welcome", version: admission.version, epoch, held });
    });
  }

  /** [WP21] A hello that was stalled on an older socket would list exchanges as they were then. */
  #dismissOlder(older: readonly WebSocket[]): void {
    for (const socket of older) this.#dismiss(socket, bye("bad_frame", "A newer socket said hello first.", true), CLOSE.protocolError);
  }

  /** The old socket ends: with its instance, or (the same instance on a new socket) silently. */
  #replace(retires: { readonly instance: string; readonly bye: ByeFrame } | undefined): void {
    const old = this.#current;
    this.#current = undefined;
    if (retires !== undefined) this.#events.retire(retires.instance);
    if (old !== undefined) this.#close(old, retires?.bye, retires === undefined ? CLOSE.normal : CLOSE.refused);
  }

  #dispatch(socket: WebSocket, frame: AgentFrame): void {
    switch (frame.t) {
      case "hello":
        return this.breakLink("hello was said already");
      case "got":
      case "head":
      case "end":
        return this.#events.exchangeFrame(frame);
      case "call":
        return void this.#answer(frame);
      case "reply":
        return;
      case "bye":
        this.#leave(socket, frame.comeBack ? "unannounced" : "announced");
        return this.#close(socket, undefined, CLOSE.normal);
    }
  }

  async #answer(call: CallFrame): Promise<void> {
    try {
      this.sendFrame({ t: "reply", id: call.id, ok: true, result: await this.#events.called(call) });
    } catch (error) {
      this.sendFrame({
        t: "reply",
        id: call.id,
        ok: false,
        message: error instanceof RangeError ? error.message.slice(0, 500) : "The relay failed at this call.",
      });
    }
  }

  #holder(): Holder | undefined {
    const socket = this.#current;
    if (socket === undefined || !isOpen(socket)) return undefined;
    const { instance = "", host = "", hostName = "" } = attachmentOf(socket);
    return { instance, host, hostName, isAlive: this.#isFresh(socket) };
  }

  #isFresh(socket: WebSocket): boolean {
    const pong = this.#ctx.getWebSocketAutoResponseTimestamp(socket)?.getTime() ?? 0;
    return this.#events.now() - Math.max(pong, this.#heardAt, attachmentOf(socket).since) < LIMITS.pongAgeMs;
  }

  #stopGreeting(socket: WebSocket): void {
    clearTimeout(this.#greeting.get(socket) ?? null);
    this.#greeting.delete(socket);
  }

  #dismiss(socket: WebSocket, farewell: ByeFrame | undefined, code: number): void {
    const wasCurrent = socket === this.#current;
    this.#stopGreeting(socket);
    this.#close(socket, farewell, code);
    if (wasCurrent) this.#leave(socket, "unannounced");
  }

  /** The reason goes in-band first: the close event may reach the agent ten seconds late (WP9). */
  #close(socket: WebSocket, farewell: ByeFrame | undefined, code: number): void {
    socket.serializeAttachment({ ...attachmentOf(socket), phase: "done" } satisfies Attachment);
    try {
      if (farewell !== undefined) socket.send(encodeControl(farewell));
      socket.close(code, farewell?.why);
    } catch {
      // Already closed.
    }
  }

  /** Also for a socket whose close woke the object up: then there is no current one. */
  #leave(socket: WebSocket, how: "announced" | "unannounced"): void {
    if (this.#current !== undefined && socket !== this.#current) return;
    this.#current = undefined;
    this.#events.lost(how);
  }
}

function bye(why: ByeFrame["why"], message: string, comeBack: boolean): ByeFrame {
  return { t: "bye", why, message, comeBack };
}

function isOpen(socket: WebSocket): boolean {
  return socket.readyState === WebSocket.OPEN;
}

function attachmentOf(socket: WebSocket): Attachment {
  return (socket.deserializeAttachment() as Attachment | null) ?? { phase: "done", since: 0, address: "" };
}
