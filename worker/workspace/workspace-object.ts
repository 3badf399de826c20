/**
 * One workspace: the composition of its parts, and the platform's handlers, each a line of delegation.
 * Until an agent has said hello for the first time nothing is stored and nobody is served (DESIGN D5).
 */
import { DurableObject } from "cloudflare:workers";
import type { HUMAN_NEWS } from "../../shared/human/call-results.ts";
import { createHumanQueue, type HumanQueue } from "../../shared/human/queue.ts";
import type { Principal } from "../../shared/principal.ts";
import type { Result } from "../../shared/result.ts";
import { encodeControl } from "../../shared/wire/codec.ts";
import type { CallFrame, Deposits, Hello, RELAY_CALLS } from "../../shared/wire/frames.ts";
import { RelayExchanges, type ExchangeFailure, type LinkView } from "../../shared/wire/relay-exchanges.ts";
import { workspacePrefix } from "../../shared/workspace.ts";
import type { Env } from "../env.ts";
import { createIssuer, type Issuer } from "../oauth/issuer.ts";
import { notReady, refusal } from "../respond.ts";
import { locate } from "../routes.ts";
import { answerAgentCall } from "./agent-calls.ts";
import { AgentLink } from "./agent-link.ts";
import { createHumanStore } from "./human-store.ts";
import { failedAnswer, serveMcp, type Absence } from "./mcp-endpoint.ts";
import { awaySentence } from "./offline-answers.ts";
import { BodyReader } from "./request-body.ts";
import { createTables, hasTables, openTables, type Tables } from "./tables.ts";
import { Tunnel } from "./tunnel.ts";
import { WorkspaceFacts } from "./workspace-facts.ts";

const now = () => Date.now();

export class WorkspaceObject extends DurableObject<Env> {
  #tables: Tables | undefined;
  #issuer: Issuer | undefined;
  #queue: HumanQueue | undefined;
  readonly #facts: WorkspaceFacts;
  readonly #link: AgentLink;
  readonly #tunnel: Tunnel;
  readonly #bodies = new BodyReader();

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#tables = hasTables(ctx.storage) ? openTables(ctx.storage) : undefined;
    this.#facts = new WorkspaceFacts({
      read: (key) => this.#tables?.setting(key),
      write: (key, value) => (this.#tables ??= createTables(ctx.storage)).putSetting(key, value),
    });
    this.#link = new AgentLink(ctx, {
      now,
      admitted: (hello, address) => this.#admitted(hello, address),
      isRetired: (instance) => this.#facts.isRetired(instance),
      retire: (instance) => this.#facts.retire(instance),
      up: (hello, welcome) => {
        this.#tunnel.linkUp(hello, (held) => welcome(this.#tunnel.epoch, held));
        this.#issuer?.agentMoved();
        this.#pushPending();
        this.#human().revokeGone();
      },
      lost: (how) => {
        this.#facts.setAwaySince(now());
        this.#issuer?.agentMoved();
        this.#tunnel.linkLost(how);
      },
      exchangeFrame: (frame) => this.#tunnel.receive(frame),
      exchangeData: (message) => this.#tunnel.receiveData(message),
      called: (call) =>
        answerAgentCall(call, {
          issuer: () => this.#oauth(),
          queue: () => this.#human(),
          facts: this.#facts,
          isOpen: (x) => this.#tunnel.isOpen(x),
          stored: () => ctx.waitUntil(this.#scheduleSweep(this.#human().sweep())),
        }),
    });
    const survivor = this.#link.survivor;
    const machine = new RelayExchanges(survivor?.epoch ?? crypto.randomUUID(), randomNumber(), survivor?.link ?? this.#lostLink());
    this.#tunnel = new Tunnel(machine, {
      now,
      send: (message) => this.#link.send(message),
      breakLink: (detail) => this.#link.breakLink(detail),
      failedAnswer: (failure, principal) => this.#failedAnswer(failure, principal),
      settled: (x, whole) => this.#queue?.settled(x, whole),
    });
  }

  /**
   * [WP14] Without a word about the agent having left, and without its socket, this object has died under the link: the agent
   * is on its way back.
   */
  #lostLink(): LinkView {
    if (this.#facts.deposits() === undefined || this.#facts.awaySince() !== undefined) return { at: "none" };
    this.#facts.setAwaySince(now());
    return { at: "lost", since: now() };
  }

  /** For the public page. */
  isConnected(): boolean {
    return this.#link.isConnected();
  }

  override async fetch(request: Request): Promise<Response> {
    const url = new URL(request.url);
    // The path that chose this object says which workspace it is: nothing else a caller sends has a say in it.
    const { workspace, route, path } = locate(url.pathname);
    if (route === "agent") return this.#link.accept(request);
    const deposits = this.#facts.deposits();
    if (deposits === undefined) return notReady();
    const prefix = workspacePrefix(workspace);
    const origin = canonicalOrigin(request.headers.get("host") ?? url.host, deposits);
    if (origin === undefined)
      return refusal(
        421,
        "wrong_address",
        `This relay is reached at ${deposits.origins.map((each) => `${each}${prefix}/mcp`).join(" or ")}, not at ${url.host}.`,
      );
    const issuer = origin + prefix;
    if (route !== "mcp") return this.#serveOauth(request, issuer);
    this.#link.dropIfStale();
    // The agent serves one workspace and knows its endpoint by one path.
    return serveMcp(request, path + url.search, {
      tunnel: this.#tunnel,
      bodies: this.#bodies,
      deposits,
      authenticate: () => this.#authenticate(request, issuer),
      absent: (principal) => this.#absent(principal),
    });
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    this.#link.receive(socket, message);
  }

  override webSocketClose(socket: WebSocket, code: number): void {
    this.#link.closed(socket, code);
  }

  override webSocketError(socket: WebSocket): void {
    this.#link.closed(socket, 1006);
  }

  override async alarm(): Promise<void> {
    const due = [this.#oauth().sweep(), this.#human().sweep()].filter((at) => at !== undefined);
    await this.#scheduleSweep(due.length === 0 ? undefined : Math.min(...due));
  }

  async #serveOauth(request: Request, issuer: string): Promise<Response> {
    const answer = (await this.#oauth().fetch(request, issuer)) ?? refusal(404, "not_found", "Nothing is here.");
    // Whatever was stored expires; documents and preflights store nothing.
    if (request.method === "POST" || request.url.includes("/authorize")) this.ctx.waitUntil(this.#scheduleSweep(this.#oauth().sweep()));
    return answer;
  }

  #admitted(hello: Hello, address: string): void {
    this.#facts.setDeposits(hello.deposits);
    this.#facts.setWorkstationAddress(address);
    this.#facts.setAwaySince(undefined);
  }

  #authenticate(request: Request, issuer: string): Promise<Result<Principal, Response>> {
    return this.#oauth().authenticate(request, issuer);
  }

  /** Built at first use: most wake-ups of the object need no issuer. */
  #oauth(): Issuer {
    this.#issuer ??= createIssuer({
      storage: this.ctx.storage,
      deposits: () => this.#facts.deposits(),
      workstationAddress: () => this.#facts.workstationAddress(),
      isAgentConnected: () => this.#link.isConnected(),
      clock: { now },
      waitUntil: (promise) => this.ctx.waitUntil(promise),
      env: this.env,
      pendingChanged: () => {
        this.#pushPending();
      },
      grantsChanged: () => {
        this.#call("grants.changed", {});
        this.#human().revokeGone();
      },
    });
    return this.#issuer;
  }

  #pushPending(): void {
    this.#call("authorization.changed", { pending: this.#oauth().pending() });
  }

  #call(method: keyof typeof RELAY_CALLS | keyof typeof HUMAN_NEWS, params: CallFrame["params"]): void {
    this.#link.send(encodeControl({ t: "call", id: crypto.randomUUID(), method, params }));
  }

  /** Made at first use: whatever an earlier life of this object had handed out goes back to the queue then. */
  #human(): HumanQueue {
    this.#queue ??= createHumanQueue({
      rows: createHumanStore(this.ctx.storage),
      now,
      onNews: ({ t, ...params }) => this.#call(`human.${t}`, params),
      isClient: (principalId) => this.#isClient(principalId),
    });
    return this.#queue;
  }

  #isClient(principalId: string): boolean {
    const [kind, id = ""] = principalId.split(":", 2);
    if (kind === "grant") return this.#oauth().isGranted(id);
    return this.#facts.deposits()?.staticTokens.some((token) => principalId === `token:${token.id}`) ?? false;
  }

  #failedAnswer(failure: ExchangeFailure, principal: Principal): Response {
    const deposits = this.#facts.deposits();
    return deposits === undefined ? notReady() : failedAnswer(failure, deposits, this.#absent(principal));
  }

  #absent({ id: principalId, name }: Principal): Absence {
    return {
      away: awaySentence(this.#facts.awaySince(), now()),
      keep: (words) => this.#human().sayWhileAway({ kind: "said", id: crypto.randomUUID(), at: now(), client: { principalId, name }, ...words }),
    };
  }

  /** Setting an alarm is a billed write, so one that is set early enough stays. */
  async #scheduleSweep(at: number | undefined): Promise<void> {
    if (at === undefined) return;
    const set = await this.ctx.storage.getAlarm();
    if (set === null || set > at || set < now()) await this.ctx.storage.setAlarm(at);
  }
}

/** [ED2] By the Host header itself: the scheme seen here may differ behind the edge, and a URL may have been rewritten before us. */
function canonicalOrigin(host: string, deposits: Deposits): string | undefined {
  return deposits.origins.find((origin) => new URL(origin).host === host);
}

function randomNumber(): number {
  return (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) >>> 1;
}
