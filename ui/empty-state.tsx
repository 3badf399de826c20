import type { JSX } from "preact";
import type { DeskInfo } from "../shared/desk.ts";
import { CopyButton } from "./copy-button.tsx";
import { StrangerText } from "./stranger-text.tsx";

/** What to do on a fresh start: the address to paste, and what happens then. */
export function EmptyState({ info }: { readonly info: DeskInfo }): JSX.Element {
  const url = info.mcpUrls[0];
  return (
    <section class="empty" aria-labelledby="empty-title">
      <h2 id="empty-title">No app has called yet</h2>
      {url === undefined ? (
        <p>No address is offered to clients in this mode.</p>
      ) : (
        <ol>
          <li>
            <p>Paste this address into your app, where it asks for an MCP server.</p>
            <p class="address">
              <code>
                <StrangerText text={url} />
              </code>
              <CopyButton text={url} label="Copy the address for your app" />
            </p>
            {info.relayIsLocal ? <p class="muted">It leads only to this computer: apps elsewhere cannot use it.</p> : null}
          </li>
          {info.oauth ? (
            <li>
              <p>{info.relayIsLocal ? "The app opens a page that waits for you." : "The app opens a page that waits for you and shows a code."}</p>
            </li>
          ) : null}
          {info.oauth ? (
            <li>
              <p>The request appears here. Look who asks, then allow or deny it.</p>
            </li>
          ) : (
            <li>
              <p>Give it the token from the terminal, if one is set. What it does appears here.</p>
            </li>
          )}
          {info.human ? (
            <li>
              <p>Tell it: “Talk with me through pi-relay, and keep waiting for me there.” From then on you can write to it below.</p>
            </li>
          ) : null}
        </ol>
      )}
    </section>
  );
}
