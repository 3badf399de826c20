/** `pimcp token`: named tokens for clients that only send a header. The file decides; running agents are told so that it holds at once. */
import * as v from "valibot";
import { minuteOf } from "../../shared/grant-wording.ts";
import { visibleLine } from "../../shared/visible-text.ts";
import { DEFAULT_WORKSPACE } from "../../shared/workspace.ts";
import { listLiveClaims, type AgentClaim } from "../daemon/agent-lock.ts";
import { workspaceSettingsPath, type Directories } from "../daemon/config-dir.ts";
import { askAgent } from "../daemon/control-client.ts";
import { TokensReloaded } from "../daemon/control-protocol.ts";
import { createToken, readCreatedTokens, revokeTokens, type CreatedToken } from "../daemon/created-tokens.ts";
import { EXIT, StartFailure, type ExitCode } from "../daemon/start-failure.ts";
import { servesWorkspace } from "./choose-agent.ts";
import { jsonLine } from "./json-line.ts";
import { TOKEN_HELP, type TokenOrder } from "./token-arguments.ts";
import { refuseInToolShell } from "./tool-shell.ts";

export interface TokenSurroundings {
  readonly directories: Directories;
  readonly show: (text: string) => void;
  readonly isToolShell: boolean;
}

/** Throws `StartFailure` when nothing was done. Ends with 1 when it was done and an agent could not be told. */
export async function runTokenCommand(order: TokenOrder, around: TokenSurroundings): Promise<ExitCode> {
  const { directories, show } = around;
  if (order.kind === "help") {
    show(TOKEN_HELP);
    return EXIT.asked;
  }
  const { workspace } = order;
  const settings = workspaceSettingsPath(directories.config, workspace);
  switch (order.kind) {
    case "list": {
      const tokens = readCreatedTokens(settings);
      show(order.json ? jsonLine({ tokens: tokens.map(withoutHash) }) : listText(tokens, Date.now()));
      return EXIT.asked;
    }
    case "create": {
      refuseInToolShell(around.isToolShell, "pimcp token create");
      const { token, created } = await createToken(settings, order.wish, Date.now());
      const news = await tellAgents(directories.state, workspace);
      show(order.json ? jsonLine({ token, ...withoutHash(created), ...effectJson(news) }) : createdText(token, { created, workspace, news }));
      return codeOf(news);
    }
    case "revoke": {
      const ended = await revokeTokens(settings, order.which);
      const news = await tellAgents(directories.state, workspace);
      show(order.json ? jsonLine({ revoked: ended.map(withoutHash), ...effectJson(news) }) : revokedText(ended, { workspace, news }));
      return codeOf(news);
    }
  }
}

interface Told {
  /** The MCP URL as a client is given it; of an agent that did not answer, or does not say, the relay as its claim has it. */
  readonly at: string;
  /** Why it could not be told; null: it knows. */
  readonly why: string | null;
}

/** Every agent of this account that serves the workspace, on whichever relay. */
function tellAgents(stateDir: string, workspace: string | null): Promise<readonly Told[]> {
  const concerned = listLiveClaims(stateDir).filter((claim) => servesWorkspace(claim, workspace ?? DEFAULT_WORKSPACE));
  return Promise.all(concerned.map(tell));
}

async function tell({ serves, control }: AgentClaim): Promise<Told> {
  if (control === null) return { at: serves, why: "the agent is of a version that cannot be told." };
  try {
    const { mcpUrls } = v.parse(TokensReloaded, await askAgent(control, { method: "tokens.reload" }));
    return { at: mcpUrls[0] ?? serves, why: null };
  } catch (error) {
    if (error instanceof StartFailure) return { at: serves, why: error.message };
    throw error;
  }
}

function codeOf(news: readonly Told[]): ExitCode {
  return news.every(({ why }) => why === null) ? EXIT.asked : EXIT.failed;
}

function effectJson(news: readonly Told[]): object {
  return {
    told: news.filter(({ why }) => why === null).map(({ at }) => at),
    untold: news.filter(({ why }) => why !== null).map(({ at, why }) => ({ relay: at, why })),
  };
}

/** The hash opens nothing, and nobody needs it either. */
function withoutHash({ id, name, scope, createdAt, expiresAt }: CreatedToken): object {
  return { id, name, scope, createdAt, expiresAt };
}

interface Effect {
  /** null: the one without a name. */
  readonly workspace: string | null;
  readonly news: readonly Told[];
}

function createdText(token: string, { created, ...effect }: Effect & { readonly created: CreatedToken }): string {
  const { id, name, expiresAt } = created;
  const what = effect.workspace === null ? "" : `the workspace ${effect.workspace} of `;
  const end = expiresAt === null ? "until you revoke it" : `until ${minuteOf(expiresAt)}`;
  return `Token “${visibleLine(name)}” (ID ${id}) for ${what}every relay of this account, ${end}. It is shown this once:

  ${token}

The client sends it as  Authorization: Bearer …
${effectText(effect, "It works", "from the next start on it works")}`;
}

function revokedText(ended: readonly CreatedToken[], effect: Effect): string {
  if (ended.length === 0) return "There was no token to take back.\n";
  const names = ended.map(({ name }) => `“${visibleLine(name)}”`).join(", ");
  return `Taken back: ${names}.\n${effectText(effect, "Refused", "from the next start on it is refused, and without an agent no call runs")}`;
}

/** `later`: what becomes of it where nobody could be told now. */
function effectText({ workspace, news }: Effect, now: string, later: string): string {
  // An agent with --http serves the workspace without a name.
  if (news.length === 0) return `No agent of this workspace is running: ${later}.${workspace === null ? " One with --http knows at once." : ""}\n`;
  const known = news.filter(({ why }) => why === null).map(({ at }) => at);
  const unknown = news.filter(({ why }) => why !== null);
  return [
    ...(known.length === 0 ? [] : [`${now} from now on at ${known.join(", ")}.`]),
    ...unknown.map(({ at, why }) => `Not yet at ${at}: ${why} It learns of this when its agent connects anew, at the latest at the next start.`),
  ]
    .map((line) => `${line}\n`)
    .join("");
}

function listText(tokens: readonly CreatedToken[], now: number): string {
  if (tokens.length === 0) return "No token was created. The one that a start prints is not listed.\n";
  const entries = tokens.map(({ id, name, scope, createdAt, expiresAt }) => {
    const end = expiresAt === null ? "does not expire" : `${now < expiresAt ? "expires" : "expired"} ${minuteOf(expiresAt)}`;
    return `${id}  “${visibleLine(name)}”\n    created ${minuteOf(createdAt)} · ${end} · scope ${scope.join(" ")}\n`;
  });
  return `${entries.join("")}\npimcp token revoke ID or NAME ends one at once; --all all of them.\n`;
}
