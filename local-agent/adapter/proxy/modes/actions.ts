/** `mcp({action})`: what other versions of this tool do, answered with what to do here instead. */
import { visibleLine } from "../../../../shared/visible-text.ts";
import type { AdapterResult } from "../../adapter.ts";
import type { Presenter } from "../../call/present.ts";
import { answerProblem, answerText } from "./answer.ts";

const LOGIN = "Logging in to a server with OAuth is not possible here yet. Configure a token for it (bearerToken, bearerTokenEnv or headers).";

export async function actionMode(action: string, presenter: Presenter): Promise<AdapterResult> {
  const details = { mode: "action", action };
  switch (action) {
    case "ui-messages":
      return answerText(presenter, "There are no messages: windows of MCP servers are not shown here yet.", { ...details, sessions: [], cleared: 0 });
    case "auth-start":
    case "auth-complete":
      return answerProblem(presenter, { code: "oauth_not_supported", message: LOGIN }, details);
    case "install":
      return answerProblem(presenter, { code: "not_supported", message: INSTALL }, details);
    default: {
      const message = `There is no action "${visibleLine(action, 100)}". To find a tool: mcp({search: "what you need"}).`;
      return answerProblem(presenter, { code: "invalid_request", message }, details);
    }
  }
}

const INSTALL = "Servers cannot be installed through this tool. The person adds them to .mcp.json in the project or to ~/.config/mcp/mcp.json.";
