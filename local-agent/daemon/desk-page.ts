/** The page of a desk: its server, and the private file that leads there. */
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import type { Desk } from "../desk/desk.ts";
import { startUiServer, UiPortBusy } from "../ui-server/server.ts";
import { sentence, type AgentContext } from "./agent-parts.ts";
import { writePageFile } from "./page-file.ts";
import { isLoopback, urlHost, type Settings } from "./settings.ts";
import { EXIT, StartFailure } from "./start-failure.ts";

export interface DeskPage {
  /** With the secret in its fragment. */
  readonly url: string;
  readonly file: string;
}

/** Throws `StartFailure`. Both end with the lifetime. */
export async function openPage(context: AgentContext, desk: Desk, file: string): Promise<DeskPage> {
  const { settings, installation, lifetime } = context;
  try {
    const secret = settings.uiToken ?? randomBytes(32).toString("base64url");
    const server = await startUiServer({ desk, ...settings.ui, secret, uiDir: installation.uiDir });
    lifetime.onEnd("page", () => server.close());
    writePageFile(file, server.url);
    lifetime.onEnd("page file", () => rmSync(file, { force: true }));
    return { url: server.url, file };
  } catch (error) {
    if (error instanceof StartFailure) throw error;
    throw new StartFailure(sentence(error), error instanceof UiPortBusy ? EXIT.usage : EXIT.failed, { cause: error });
  }
}

/** [PG106] What the person chose with `--ui-host`, said in the terminal and on the page. */
export function pageWarnings({ ui }: Pick<Settings, "ui">): readonly string[] {
  if (isLoopback(ui.host)) return [];
  const everywhere = ui.host === "0.0.0.0" || ui.host === "::";
  const where = everywhere ? `every address of this machine, port ${ui.port}` : `http://${urlHost(ui.host)}:${ui.port}/`;
  return [
    `Other machines can reach the page (${where}): whoever has its token can hand out this workstation, and plain http can be read on the way.`,
  ];
}
