/** A call that a person has to allow: prepared, shown, and only then executed, with the very arguments that were shown. */
import type { ApprovalGate } from "../../shared/approval.ts";
import type { ToolCall, ToolOutcome } from "../../shared/tool.ts";
import { frozenCopy } from "./frozen-copy.ts";
import { linkSignals } from "./linked-signal.ts";
import { prepareCall } from "./prepared-call.ts";
import type { CallScope, ScopedTools } from "./tool-call.ts";

/** What progress says meanwhile. */
const WAITING = "waiting for the person's approval";

/** A client that is gone has nobody to tell what its command did: in both eras it ends the waiting, though not a call that runs. */
export async function runGuarded(
  ports: { readonly tools: ScopedTools; readonly gate: ApprovalGate },
  call: ToolCall,
  scope: CallScope,
  say: (message: string | null) => void,
): Promise<ToolOutcome> {
  const asked = frozenCopy(call.args);
  if (asked === undefined) return refused(TOO_DEEP);
  const prepared = await prepareCall(ports.tools, { ...call, args: asked }, scope);
  if (!prepared.ok) return prepared.error;
  const args = prepared.value.args === asked ? asked : frozenCopy(prepared.value.args);
  const waiting = linkSignals(scope.signal, scope.gone);
  say(WAITING);
  try {
    const answer = await askGate();
    if (answer.allowed && !waiting.signal.aborted) {
      say(null);
      return await prepared.value.execute();
    }
    prepared.value.discard();
    return refused(answer.allowed ? LEFT : answer.text);
  } finally {
    waiting.unlink();
  }

  function askGate(): ReturnType<ApprovalGate["ask"]> {
    if (args === undefined) return Promise.resolve({ allowed: false, text: TOO_DEEP });
    const { id: principalId, name: client } = scope.principal;
    return ports.gate.ask({ callId: call.callId, tool: call.name, args, principalId, client, signal: waiting.signal, probe: scope.probe });
  }
}

const TOO_DEEP = "The arguments are nested too deeply to be shown to the person who has to approve them. Nothing was run.";
const LEFT = "The call ended before its approval could take effect. Nothing was run.";

function refused(text: string): ToolOutcome {
  return { content: [{ type: "text", text }], isError: true };
}
