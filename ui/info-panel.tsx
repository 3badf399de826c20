import type { JSX } from "preact";
import type { Grant, Revocation } from "../shared/authorization.ts";
import type { DeskInfo, LinkState } from "../shared/desk.ts";
import { elapsed } from "../shared/elapsed.ts";
import { AllowedCalls, type AllowedCallsProps } from "./allowed-calls.tsx";
import { Fact } from "./fact.tsx";
import { CopyButton } from "./copy-button.tsx";
import type { PageLink } from "./desk-connection.ts";
import { GrantedApps } from "./granted-apps.tsx";
import { pageLinkWords, relayLinkSentence } from "./link-wording.ts";
import { StrangerText } from "./stranger-text.tsx";
import { useNow } from "./use-now.ts";
import type { LabelledWaiting } from "./waiting-client.tsx";

export interface InfoPanelProps {
  readonly info: DeskInfo;
  readonly link: LinkState;
  readonly pageLink: PageLink;
  readonly waiting: LabelledWaiting | null;
  readonly grants: readonly Grant[] | null;
  readonly remembered: number;
  readonly onForget: () => Promise<string | undefined>;
  readonly onRefreshGrants: () => Promise<string | undefined>;
  readonly onRevoke: (which: Revocation) => Promise<string | undefined>;
}

export function InfoPanel({ info, link, pageLink, waiting, grants, remembered, onForget, onRefreshGrants, onRevoke }: InfoPanelProps): JSX.Element {
  const now = useNow(1_000);
  return (
    <aside id="info" class="info" aria-label="Info">
      <Warnings warnings={info.warnings} />
      {info.oauth ? (
        <GrantedApps
          grants={grants}
          isReachable={pageLink.at === "live" && link.at === "open"}
          now={now}
          onRefresh={onRefreshGrants}
          onRevoke={onRevoke}
        />
      ) : null}
      <dl>
        <Fact name="Folder">
          <code>
            <StrangerText text={info.root} />
          </code>
        </Fact>
        <Fact name={info.mcpUrls.length > 1 ? "Addresses for apps" : "Address for apps"}>
          {info.mcpUrls.map((url) => (
            <p key={url} class="address">
              <code>
                <StrangerText text={url} />
              </code>
              <CopyButton text={url} label={`Copy ${url}`} />
            </p>
          ))}
          {info.relayIsLocal ? <p class="muted">Only programs on this computer can use it.</p> : null}
        </Fact>
        <Fact name="Page to agent">{pageLinkWords(pageLink).label}</Fact>
        <Fact name="Agent to relay">
          <StrangerText text={relayLinkSentence(link, pageLink, now)} />
          <p class="muted">
            <StrangerText text={info.relay} />
          </p>
        </Fact>
        <Fact name="Person">
          <p>{info.human ? "Apps can talk with you (--human): on" : "Apps can talk with you (--human): off"}</p>
          {info.human ? <p class="muted">{waitSentence(info)}</p> : null}
          {waiting === null ? null : (
            <p class="muted">
              The call of <StrangerText text={waiting.label} /> that waits now has {seconds(waiting.until - waiting.since)} in all.
            </p>
          )}
        </Fact>
        <Fact name="Tools">{info.tools.length === 0 ? "none" : <Names names={info.tools} />}</Fact>
        <McpServers servers={info.mcpServers} />
        <Fact name="Wait for your click">
          <Guarded tools={info.approve} remembered={remembered} onForget={onForget} />
        </Fact>
        <Fact name="Denied to file tools">{info.deny.length === 0 ? "nothing" : <Names names={info.deny} />}</Fact>
        <Fact name="Ways in">
          <p>{info.oauth ? "Approval on this page (OAuth): on" : "Approval on this page (OAuth): off"}</p>
          <p>{info.tokenSet ? "Token: set" : "Token: not set"}</p>
          <p>{info.uiToken ? "Key of this page: your own (--ui-token)" : "Key of this page: a new one at every start"}</p>
          <ByHand client={info.client} />
        </Fact>
        <Fact name="Confinement">
          <Sentences sentences={info.confinement} />
        </Fact>
        <Fact name="Agent">
          <StrangerText text={info.version} />, running for {elapsed(info.startedAt, now)}
        </Fact>
      </dl>
    </aside>
  );
}

function Sentences({ sentences }: { readonly sentences: readonly string[] }): JSX.Element {
  return (
    <>
      {sentences.map((sentence) => (
        <p key={sentence}>
          <StrangerText text={sentence} />
        </p>
      ))}
    </>
  );
}

function Guarded({ tools, ...allowed }: AllowedCallsProps & { readonly tools: readonly string[] }): JSX.Element {
  if (tools.length === 0) return <>none of them</>;
  return (
    <>
      <Names names={tools} />
      <AllowedCalls {...allowed} />
    </>
  );
}

function waitSentence({ waitMs, patientWaitMs }: DeskInfo): string {
  const patient = patientWaitMs === waitMs ? "" : `, of an app known to bear it ${seconds(patientWaitMs)}`;
  return `A call waits for you for at most ${seconds(waitMs)}${patient}. Then the app has to call again.`;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1_000)} s`;
}

/** The secret is not on this page: the terminal shows it, or the file that the terminal names. */
function ByHand({ client }: Pick<DeskInfo, "client">): JSX.Element {
  if (client === null) return <p>Client set up by hand: none</p>;
  return (
    <>
      <p>
        Client set up by hand:{" "}
        <code>
          <StrangerText text={client.id} />
        </code>
        , secret set
      </p>
      <p class="muted">{client.redirects === null ? "You decide about each address it returns to." : "It may return to these addresses only:"}</p>
      {client.redirects === null ? null : <Names names={client.redirects} />}
    </>
  );
}

function Warnings({ warnings }: { readonly warnings: readonly string[] }): JSX.Element | null {
  if (warnings.length === 0) return null;
  return (
    <div role="alert">
      <ul class="warnings">
        {warnings.map((warning) => (
          <li key={warning}>
            <StrangerText text={warning} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function Names({ names }: { readonly names: readonly string[] }): JSX.Element {
  return (
    <ul class="names">
      {names.map((name) => (
        <li key={name}>
          <code>
            <StrangerText text={name} />
          </code>
        </li>
      ))}
    </ul>
  );
}

function McpServers({ servers }: { readonly servers: DeskInfo["mcpServers"] }): JSX.Element | null {
  if (servers.length === 0) return null;
  return (
    <Fact name="MCP servers">
      <Names names={servers.map(({ name, state }) => `${name}${SERVER_STATES[state]}`)} />
    </Fact>
  );
}

/** As they were when the agent started. */
const SERVER_STATES: Readonly<Record<DeskInfo["mcpServers"][number]["state"], string>> = {
  on: "",
  exposed: " (exposed)",
  waits: " (of this project: yours to allow)",
  disabled: " (disabled)",
  unusable: " (not usable)",
};
