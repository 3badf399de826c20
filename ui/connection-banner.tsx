import type { JSX } from "preact";
import type { LinkState } from "../shared/desk.ts";
import type { PageLink } from "./desk-connection.ts";
import { timeOfDay } from "./wording.ts";

/** Says what is wrong between this page and the agent, and what can be done. Nothing when all is well. */
export function ConnectionBanner({ link, onResume }: { readonly link: PageLink; readonly onResume: () => void }): JSX.Element | null {
  switch (link.at) {
    case "live":
    case "refused":
      return null;
    case "connecting":
      return <Banner text="Connecting to the agent …" />;
    case "retrying":
      return (
        <Banner
          text={`The agent has not been reachable since ${timeOfDay(link.since, "second")}. Nothing can be decided meanwhile. This page tries again by itself; a restarted agent prints a new address.`}
          action="Try now"
          onAction={onResume}
        />
      );
    case "displaced":
      return <Banner text="This page is open in several tabs, so this one stopped following." action="Follow here" onAction={onResume} />;
    case "outdated":
      return <Banner text="The agent was updated and this page is of the older version." action="Reload" onAction={() => location.reload()} />;
  }
}

/** While the relay is away the person can still write: what becomes of it is said before they do. */
export function RelayBanner({
  link,
  pageLink,
  human,
}: {
  readonly link: LinkState;
  readonly pageLink: PageLink;
  readonly human: boolean;
}): JSX.Element | null {
  if (!human || pageLink.at !== "live") return null;
  if (link.at === "waiting")
    return <Banner text="The relay cannot be reached, so no app can. What you write is kept on this computer, and sent when the relay is back." />;
  if (link.at === "retired")
    return (
      <Banner text="The agent has given up its place at the relay, so no app reaches it. What you write is kept on this computer until it is started again." />
    );
  return null;
}

interface BannerProps {
  readonly text: string;
  readonly action?: string;
  readonly onAction?: () => void;
}

function Banner({ text, action, onAction }: BannerProps): JSX.Element {
  return (
    <div class="banner" role="status">
      <span>{text}</span>
      {action === undefined ? null : (
        <button type="button" onClick={onAction}>
          {action}
        </button>
      )}
    </div>
  );
}
