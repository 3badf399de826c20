/** The two connections behind the page, told apart: this page to the agent, and the agent to the relay. */
import type { LinkState } from "../shared/desk.ts";
import { elapsed } from "../shared/elapsed.ts";
import type { PageLink } from "./desk-connection.ts";

export interface LinkWords {
  readonly tone: "good" | "pending" | "bad";
  readonly label: string;
}

export function pageLinkWords(link: PageLink): LinkWords {
  switch (link.at) {
    case "live":
      return { tone: "good", label: "live" };
    case "connecting":
      return { tone: "pending", label: "connecting" };
    case "retrying":
      return { tone: "bad", label: "lost, reconnecting" };
    case "displaced":
      return { tone: "pending", label: "paused" };
    case "outdated":
      return { tone: "bad", label: "page out of date" };
    case "refused":
      return { tone: "bad", label: "refused" };
  }
}

/** One word while both links stand: told apart they interest only whom something is wrong with. */
export function isAllWell(link: LinkState, pageLink: PageLink): boolean {
  return pageLink.at === "live" && link.at === "open";
}

/** What the page last heard; without a live page it is not known any more. */
export function relayLinkWords(link: LinkState, pageLink: PageLink): LinkWords {
  if (pageLink.at !== "live") return { tone: "pending", label: "unknown" };
  switch (link.at) {
    case "open":
      return { tone: "good", label: "connected" };
    case "connecting":
      return { tone: "pending", label: "connecting" };
    case "waiting":
      return { tone: "bad", label: "not connected" };
    case "retired":
      return { tone: "bad", label: "ended" };
  }
}

/** The same in a sentence, for the info panel. */
export function relayLinkSentence(link: LinkState, pageLink: PageLink, now: number): string {
  const words = relayLinkWords(link, pageLink);
  if (words.label === "unknown") return "not known while this page is not connected to the agent";
  switch (link.at) {
    case "open":
      return `connected for ${elapsed(link.since, now)}`;
    case "connecting":
      return "connecting";
    case "waiting":
      return `not connected: ${withoutFullStop(link.reason)}. ${link.retryAt > now ? `Next try in ${Math.ceil((link.retryAt - now) / 1_000)} s.` : "Trying now."}`;
    case "retired":
      return `ended and not coming back by itself: ${withoutFullStop(link.reason)}`;
  }
}

/** Reasons are sentences; here they end in ours. */
function withoutFullStop(sentence: string): string {
  return sentence.replace(/\.$/, "");
}
