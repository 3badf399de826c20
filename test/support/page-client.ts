/** The page's side of its server without a browser: what a real page would send and be told. */
import { randomUUID } from "node:crypto";
import * as v from "valibot";
import { readPageAddress } from "../../local-agent/daemon/page-file.ts";
import { DeskEvent, type DeskSnapshot } from "../../shared/desk.ts";
import { waitUntil } from "./wait-until.ts";

export interface PageClient {
  /** The state as a page that opens now is shown it, once `isReady` holds. */
  snapshotWhen(what: string, isReady: (snapshot: DeskSnapshot) => boolean): Promise<DeskSnapshot>;
  post(path: string, body: object): Promise<unknown>;
  /** Answers the open question with this text. */
  answer(question: string, text: string): Promise<unknown>;
}

/** Through the file that leads a browser there. */
export function pageClient(pageFile: string | null): PageClient {
  const address = new URL(readPageAddress(pageFile ?? "") ?? "");
  const headers = { authorization: `Bearer ${address.hash.slice(1)}` };

  async function snapshot(): Promise<DeskSnapshot> {
    const response = await fetch(new URL("/api/events", address), { headers });
    let text = "";
    for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += part;
      if (text.includes("\n")) break;
    }
    const event = v.parse(DeskEvent, JSON.parse(text.slice(0, text.indexOf("\n"))));
    if (event.t !== "snapshot") throw new Error(`expected a snapshot first, got ${event.t}`);
    return event.snapshot;
  }

  async function post(path: string, body: object): Promise<unknown> {
    const response = await fetch(new URL(path, address), {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path} was answered ${response.status}: ${await response.text()}`);
    return response.json();
  }

  async function snapshotWhen(what: string, isReady: (snapshot: DeskSnapshot) => boolean): Promise<DeskSnapshot> {
    let latest = await snapshot();
    await waitUntil(what, async () => {
      latest = await snapshot();
      return isReady(latest);
    });
    return latest;
  }

  return {
    snapshotWhen,
    post,
    async answer(question, text) {
      const isOpen = ({ conversation }: DeskSnapshot) =>
        conversation?.entries.find((entry) => entry.kind === "asked" && entry.text === question && entry.state === "open");
      const shown = isOpen(await snapshotWhen(`the page shows ${question}`, (state) => isOpen(state) !== undefined));
      return post("/api/answer", { id: randomUUID(), questionId: shown?.id, text });
    },
  };
}
