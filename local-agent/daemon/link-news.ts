/** What a person at the terminal is told of the link: each change once, not each redial. */
import type { LinkState } from "../../shared/desk.ts";

export interface LinkNews {
  /** A line for the person, or undefined when there is nothing new. */
  lineFor(state: LinkState): string | undefined;
  /** Whether a line about a missing connection was the last one said. */
  readonly isAwaited: boolean;
}

export function createLinkNews(url: string): LinkNews {
  let said: string | undefined;
  let wasOpen = false;
  return {
    get isAwaited() {
      return said !== undefined;
    },
    lineFor(state) {
      if (state.at === "waiting" && said !== state.reason) {
        said = state.reason;
        return `No connection to ${url}: ${state.reason} Trying again.`;
      }
      if (state.at !== "open") return undefined;
      // The first time the banner says it.
      const isReturn = said !== undefined && wasOpen;
      said = undefined;
      wasOpen = true;
      return isReturn ? `Connected to ${url} again.` : undefined;
    },
  };
}
