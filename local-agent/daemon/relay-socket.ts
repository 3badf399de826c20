/** One WebSocket to the relay, from dialling to its end: handshake answers as reasons, heartbeat, and frames in and out. */
import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import { isJsonObject, parseJson } from "../../shared/json.ts";
import type { Clock, Timers } from "../../shared/ports.ts";
import { CLOSE, isRetriable } from "../../shared/wire/close-codes.ts";
import { decodeData, decodeRelayFrame, type DataFrame } from "../../shared/wire/codec.ts";
import type { RelayFrame } from "../../shared/wire/frames.ts";
import { LIMITS } from "../../shared/wire/limits.ts";
import { pingEveryMs, pongWithinMs } from "./link-timing.ts";

/**
 * Why a socket ended. `refused`: dialling again cannot help. `foreign`: something that is no relay said no; at the first dial the
 * address is wrong, later something stands in between for a while.
 */
export type SocketEnd = { readonly kind: "lost" | "refused" | "foreign"; readonly reason: string; readonly message: string };

export interface RelaySocketEvents {
  readonly opened: () => void;
  readonly frame: (frame: RelayFrame) => void;
  readonly data: (frame: DataFrame) => void;
  /** Exactly once, also when the handshake failed. */
  readonly ended: (end: SocketEnd) => void;
  /** Whether an exchange is open: decides the heartbeat. */
  readonly isBusy: () => boolean;
}

export interface RelaySocketOptions {
  readonly agentUrl: URL;
  readonly agentKey: string;
  readonly clock: Clock;
  readonly timers: Timers;
}

const HANDSHAKE_MS = 10_000;
const CHECK_MS = 2500;
/** A control frame or one chunk, with room for framing. */
const MAX_MESSAGE_BYTES = Math.max(LIMITS.controlBytes * 3, LIMITS.chunkBytes + 64);

export class RelaySocket {
  readonly #socket: WebSocket;
  readonly #options: RelaySocketOptions;
  readonly #events: RelaySocketEvents;
  #isEnded = false;
  #heardAt: number;
  #pingAt: number;
  #closingSince: number | undefined;
  #cancelCheck: () => void;

  constructor(options: RelaySocketOptions, events: RelaySocketEvents) {
    this.#options = options;
    this.#events = events;
    this.#heardAt = this.#pingAt = options.clock.now();
    this.#socket = new WebSocket(options.agentUrl, {
      headers: { authorization: `Bearer ${options.agentKey}` },
      handshakeTimeout: HANDSHAKE_MS,
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
      // A key of zeros: masking exists to keep scripts of a browser from writing what a proxy would take for HTTP (RFC 6455
      // §10.3). This is no browser, the connection is TLS or loopback, and masking a MiB in JavaScript takes milliseconds.
      generateMask: (mask) => mask.fill(0),
    });
    this.#socket.binaryType = "nodebuffer";
    this.#socket.on("open", () => this.#opened());
    this.#socket.on("message", (message: Buffer, isBinary: boolean) => this.#message(message, isBinary));
    this.#socket.on("unexpected-response", (_request, response) => void this.#refusedUpgrade(response));
    this.#socket.on("error", (error) => this.end(lost("network", sentenceOf(error))));
    this.#socket.on("close", (code) =>
      this.end(isRetriable(code) ? lost("closed", "The connection was closed.") : refused("refused", "The relay refused this agent.")),
    );
    this.#cancelCheck = options.timers.after(CHECK_MS, () => this.#check());
  }

  send(message: string | Uint8Array): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(message);
  }

  /** Ends at once, without waiting for a close handshake: the close event of a peer can be ten seconds late. */
  end(end: SocketEnd): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#cancelCheck();
    this.#socket.on("error", () => undefined);
    this.#socket.terminate();
    this.#events.ended(end);
  }

  /** Says a last frame, gives it `flushMs` to leave, and ends. */
  async leave(message: string, flushMs: number): Promise<void> {
    if (this.#socket.readyState === WebSocket.OPEN) {
      const closed = new Promise<void>((resolve) => this.#socket.once("close", () => resolve()));
      this.#socket.send(message);
      this.#socket.close(CLOSE.goingAway);
      await Promise.race([closed, new Promise<void>((resolve) => this.#options.timers.after(flushMs, resolve))]);
    }
    this.end(lost("leaving", "The agent is stopping."));
  }

  /** Only our own relay's words end the agent: a proxy, portal or edge in between may answer anything for a while. */
  async #refusedUpgrade(response: IncomingMessage): Promise<void> {
    const status = response.statusCode ?? 0;
    const body = await readSome(response).catch(() => "");
    this.end(handshakeRefusal(status, body, this.#options.agentUrl));
  }

  #opened(): void {
    this.#heardAt = this.#pingAt = this.#options.clock.now();
    this.#events.opened();
  }

  #message(message: Buffer, isBinary: boolean): void {
    if (this.#isEnded) return;
    this.#heardAt = this.#options.clock.now();
    if (isBinary) {
      const frame = decodeData(message);
      return frame.ok ? this.#events.data(frame.value) : this.end(lost("bad_frame", frame.error.detail));
    }
    const text = message.toString("utf8");
    if (text === "pong") return;
    const frame = decodeRelayFrame(text);
    if (frame.ok) return this.#events.frame(frame.value);
    if (frame.error.reason !== "unknown_type") this.end(lost("bad_frame", `${frame.error.reason}: ${frame.error.detail}`));
  }

  /** [WP18] Only an unanswered ping counts as death: silence alone is normal. */
  #check(): void {
    const now = this.#options.clock.now();
    const isBusy = this.#events.isBusy();
    if (this.#socket.readyState === WebSocket.CLOSING) {
      this.#closingSince ??= now;
      if (now - this.#closingSince >= 1000) return this.end(lost("closed", "The connection was closing."));
    }
    if (this.#socket.readyState === WebSocket.OPEN) {
      if (this.#pingAt > this.#heardAt && now - this.#pingAt >= pongWithinMs(isBusy)) return this.end(lost("silent", "The relay stopped answering."));
      if (this.#pingAt <= this.#heardAt && now - this.#pingAt >= pingEveryMs(isBusy)) {
        this.#pingAt = now;
        this.#socket.send("ping");
      }
    }
    this.#cancelCheck = this.#options.timers.after(CHECK_MS, () => this.#check());
  }
}

export function lost(reason: string, message: string): SocketEnd {
  return { kind: "lost", reason, message };
}

export function refused(reason: string, message: string): SocketEnd {
  return { kind: "refused", reason, message };
}

/** Answers to the upgrade that are not 101, by the `error` our Worker names; any other answer is not its, and is tried again. */
function handshakeRefusal(status: number, body: string, { host, pathname }: URL): SocketEnd {
  const answer = parseJson(body);
  const error = isJsonObject(answer) ? answer["error"] : undefined;
  if (error === "wrong_agent_key") {
    const message = `The relay at ${host} does not know this agent key. Pass the key it was deployed with (--key-file), or run "npm run deploy" to set a new one.`;
    return refused("wrong_key", message);
  }
  if (error === "no_agent_key") {
    const message = `The relay at ${host} has no agent key yet. Run "npm run deploy", or set one with "npx wrangler secret put AGENT_KEY".`;
    return refused("no_agent_key", message);
  }
  // A relay that was deployed before there were workspaces.
  if (error === "not_found" && pathname !== "/agent") {
    const message = `The relay at ${host} knows no workspaces: update it with "npm run deploy", or leave --workspace out.`;
    return { kind: "foreign", reason: "no_workspaces", message };
  }
  const message = `${host} answered ${status} instead of opening the link. Check that --relay names a pi-relay.`;
  return { kind: status >= 400 && status < 500 ? "foreign" : "lost", reason: "no_relay", message };
}

async function readSome(response: IncomingMessage): Promise<string> {
  let text = "";
  response.setTimeout(REFUSAL_READ_MS, () => response.destroy());
  for await (const piece of response.setEncoding("utf8")) {
    text += String(piece);
    if (text.length > MAX_REFUSAL_CHARS) break;
  }
  return text;
}

const REFUSAL_READ_MS = 3000;
const MAX_REFUSAL_CHARS = 4096;

const TRUST_IT = "Name the authority that signed it in NODE_EXTRA_CA_CERTS to trust it.";
const NETWORK_TEXT: Readonly<Record<string, string>> = {
  ENOTFOUND: "The relay's name cannot be resolved.",
  EAI_AGAIN: "The relay's name cannot be resolved right now.",
  ECONNREFUSED: "Nothing answers at the relay's address.",
  ECONNRESET: "The connection was reset.",
  ETIMEDOUT: "The relay did not answer in time.",
  DEPTH_ZERO_SELF_SIGNED_CERT: `The relay's certificate is self-signed. ${TRUST_IT}`,
  SELF_SIGNED_CERT_IN_CHAIN: `The relay's certificate chain is not trusted. ${TRUST_IT}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `The relay's certificate is not signed by an authority this machine trusts. ${TRUST_IT}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `The relay's certificate is not signed by an authority this machine trusts. ${TRUST_IT}`,
  ERR_TLS_CERT_ALTNAME_INVALID: "The relay's certificate is for another name. Check the --relay URL, or whether something stands in between.",
  CERT_HAS_EXPIRED: "The relay's certificate has expired, or this machine's clock is wrong.",
  CERT_NOT_YET_VALID: "The relay's certificate is not valid yet: this machine's clock may be wrong.",
};

function sentenceOf(error: Error & { code?: string }): string {
  return (error.code === undefined ? undefined : NETWORK_TEXT[error.code]) ?? `The connection failed (${error.code ?? error.message}).`;
}
