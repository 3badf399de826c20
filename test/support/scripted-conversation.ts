/** A desk whose conversation a test writes, and the page's calls about it as a recording fake in front of the server. */
import type { BrowserContext, Route } from "playwright-core";
import type { ConversationView, DeskEvent } from "../../shared/desk.ts";
import type { Asked, HumanClient, HumanEntry, HumanImage, Said, Typed } from "../../shared/human/entry.ts";
import type { Desk } from "../../local-agent/desk/desk.ts";

export const CLAUDE: HumanClient = { principalId: "grant:1", name: "Claude" };

export function entryId(n: number): string {
  return n.toString(16).padStart(32, "0");
}

export function said(n: number, text: string, changes: Partial<Said> = {}): Said {
  return { kind: "said", id: entryId(n), n, at: Date.now(), client: CLAUDE, category: "message", text, whileAway: false, ...changes };
}

export function asked(n: number, text: string, options: readonly string[] = [], changes: Partial<Asked> = {}): Asked {
  const at = Date.now();
  return { kind: "asked", id: entryId(n), n, at, client: CLAUDE, text, options: [...options], expiresAt: at + 3_600_000, state: "open", ...changes };
}

export function typed(n: number, text: string, changes: Partial<Typed> = {}): Typed {
  return {
    kind: "typed",
    id: entryId(n),
    n,
    at: Date.now(),
    text,
    images: [],
    to: CLAUDE,
    questionId: null,
    state: "queued",
    repeat: false,
    ...changes,
  };
}

interface Post {
  readonly path: string;
  readonly body: unknown;
}

export interface ScriptedConversation {
  /** Give it to the page's server instead of the desk it wraps. */
  wrap(desk: Desk): Desk;
  /** Answers the page's calls; `posts` records them. */
  serve(context: BrowserContext): Promise<void>;
  readonly posts: Post[];
  /** Sent to every page; a later page sees it in its snapshot. */
  entry(entry: HumanEntry): void;
  marks(marks: Extract<DeskEvent, { t: "marks" }>["marks"]): void;
  set(change: Partial<ConversationView>): void;
  /** How the next calls to this path are answered; the default keeps what is said and tells all pages. */
  answer(path: string, ...answers: readonly ScriptedAnswer[]): void;
  /** What `GET /api/history` holds. */
  older: HumanEntry[];
}

interface ScriptedAnswer {
  readonly status?: number;
  readonly body?: unknown;
  /** The connection ends without an answer. */
  readonly isCut?: boolean;
  readonly afterMs?: number;
}

export function scriptedConversation(start: Partial<ConversationView> = {}): ScriptedConversation {
  let view: ConversationView = { entries: [], unsent: [], isLoaded: true, waiting: null, clients: [{ ...CLAUDE, lastAt: Date.now() }], ...start };
  const listeners = new Set<(event: DeskEvent) => void>();
  const publish = (event: DeskEvent): void => listeners.forEach((listener) => listener(event));
  const posts: Post[] = [];
  const answers = new Map<string, ScriptedAnswer[]>();
  const images = new Map<string, { readonly bytes: Buffer; readonly type: string }>();
  const script: ScriptedConversation = {
    posts,
    older: [],
    wrap: (desk) => ({
      ...desk,
      snapshot: () => ({ ...desk.snapshot(), conversation: view }),
      subscribe(listener) {
        listeners.add(listener);
        const unsubscribe = desk.subscribe(listener);
        return () => {
          unsubscribe();
          listeners.delete(listener);
        };
      },
    }),
    entry(entry) {
      const others = view.entries.filter((known) => known.id !== entry.id);
      view = { ...view, entries: [...others, entry].toSorted((one, other) => one.n - other.n) };
      publish({ t: "entry", entry });
    },
    marks(marks) {
      const byId = new Map(marks.map((mark) => [mark.id, mark]));
      view = { ...view, entries: view.entries.map((entry) => (entry.kind === "typed" ? { ...entry, ...byId.get(entry.id) } : entry)) };
      publish({ t: "marks", marks });
    },
    set(change) {
      view = { ...view, ...change };
      const { entries: _, ...rest } = view;
      publish({ t: "conversation", ...rest });
    },
    answer: (path, ...next) => void answers.set(path, [...(answers.get(path) ?? []), ...next]),
    async serve(context) {
      await context.route(/\/api\/(?:say|answer|images|history)/, (route) => onCall(route));
    },
  };

  async function onCall(route: Route): Promise<void> {
    const request = route.request();
    const { pathname, searchParams } = new URL(request.url());
    const body = bodyOf(route, pathname);
    if (request.method() === "POST") posts.push({ path: pathname, body });
    const scripted = answers.get(pathname)?.shift();
    if (scripted?.afterMs !== undefined) await new Promise((resolve) => setTimeout(resolve, scripted.afterMs));
    if (scripted?.isCut === true) return route.abort();
    if (scripted?.body !== undefined) return route.fulfill({ status: scripted.status ?? 200, json: scripted.body });
    return usualAnswer(route, pathname, body, searchParams);
  }

  // oxlint-disable-next-line max-params -- what a request is made of
  function usualAnswer(route: Route, pathname: string, body: unknown, searchParams: URLSearchParams): Promise<void> {
    const request = route.request();
    const image = /^\/api\/images\/(.+)$/.exec(pathname)?.[1];
    if (image !== undefined) {
      const found = images.get(image);
      return found === undefined
        ? route.fulfill({ status: 404, json: { error: "no such image" } })
        : route.fulfill({ body: found.bytes, contentType: found.type });
    }
    return route.fulfill({ json: usual(pathname, body, searchParams, request.postDataBuffer(), request.headers()["content-type"] ?? "") });
  }

  // oxlint-disable-next-line max-params -- what a request is made of
  function usual(path: string, body: unknown, query: URLSearchParams, bytes: Buffer | null, type: string): unknown {
    const n = (view.entries.at(-1)?.n ?? 0) + 1;
    switch (path) {
      case "/api/say": {
        const { id, text, images } = body as { id: string; text: string; images: HumanImage[] };
        if (view.entries.some((entry) => entry.id === id)) return { outcome: "known" };
        script.entry(typed(n, text, { id, images }));
        return { outcome: "kept" };
      }
      case "/api/answer": {
        const { id, questionId, text } = body as { id: string; questionId: string; text: string };
        const question = view.entries.find((entry) => entry.kind === "asked" && entry.id === questionId);
        if (question?.kind !== "asked" || question.state !== "open") return { outcome: "answered" };
        script.entry(typed(n, text, { id, questionId }));
        script.entry({ ...question, state: "answered" });
        return { outcome: "kept" };
      }
      case "/api/images": {
        const image: HumanImage = { id: entryId(1_000_000 + images.size), mimeType: type as HumanImage["mimeType"], bytes: bytes?.length ?? 1 };
        images.set(image.id, { bytes: bytes ?? Buffer.alloc(0), type });
        return { image };
      }
      default: {
        const before = script.older.filter((entry) => entry.n < Number(query.get("before")));
        return { entries: before.slice(-50), more: before.length > 50 };
      }
    }
  }
  return script;
}

function bodyOf(route: Route, path: string): unknown {
  const text = path === "/api/images" ? null : route.request().postData();
  return text === null ? null : JSON.parse(text);
}
