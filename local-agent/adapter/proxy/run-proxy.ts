/** The tool `mcp`: reads what is asked for and does it. */
import type { AdapterCall, AdapterResult } from "../adapter.ts";
import { actionMode } from "./modes/actions.ts";
import { answerProblem } from "./modes/answer.ts";
import { callMode } from "./modes/call.ts";
import { describeMode } from "./modes/describe.ts";
import { connectMode, instructionsMode, listMode } from "./modes/list.ts";
import { searchMode } from "./modes/search.ts";
import { statusMode } from "./modes/status.ts";
import type { ProxyParts } from "./proxy-parts.ts";
import { readRequest } from "./proxy-request.ts";

export async function runProxy(call: AdapterCall, parts: ProxyParts): Promise<AdapterResult> {
  const read = readRequest(call.args);
  if (!read.ok) return answerProblem(parts.presenter, read.error, { mode: "unknown" });
  const request = read.value;
  switch (request.mode) {
    case "action":
      return actionMode(request.action, parts.presenter);
    case "call":
      return callMode(request, parts, call);
    case "connect":
      return connectMode(request.server, parts, call);
    case "describe":
      return describeMode(request, parts, call);
    case "instructions":
      return instructionsMode(request.server, parts);
    case "search":
      return searchMode(request, parts, call);
    case "list":
      return listMode(request.server, parts);
    case "status":
      return statusMode(parts);
  }
}
