/** What a started agent tells the person. */
import type { PendingAuthorization } from "../../shared/authorization.ts";
import type { DeskInfo } from "../../shared/desk.ts";
import type { Desk } from "../desk/desk.ts";
import type { ClientPair } from "./client-pair.ts";
import type { StaticToken } from "./machine.ts";

/** What happens at the desk, and whether a page shows it. */
export type WatchedDesk = Pick<Desk, "subscribe" | "isPageOpen">;

export interface RunningAgent {
  readonly info: DeskInfo;
  readonly token: StaticToken;
  /** For a client that is set up by hand; null without OAuth. */
  readonly client: ClientPair | null;
  /** Address with its secret, and the private file that leads there; null when no page is bound. */
  readonly page: { readonly url: string; readonly file: string } | null;
  /** Only clients on this machine can use the URL. */
  readonly local: boolean;
  /** Hands over what waits for the person, now and at every change, for as long as the agent runs; null where nothing can. */
  readonly watchCards: ((show: (waiting: readonly PendingAuthorization[]) => void) => void) | null;
  /** Null where clients cannot talk with the person. */
  readonly talk: WatchedDesk | null;
}
