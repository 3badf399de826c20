/** The approval that reading a resource has to pass before anything of it is sent, as for a tool that reads it. */
import { randomUUID } from "node:crypto";
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { JsonObject } from "../../../shared/json.ts";
import { linkSignals } from "../linked-signal.ts";
import type { CallScope } from "../tool-call.ts";
import type { Caller } from "./caller.ts";
import type { Grants } from "./grants.ts";
import type { Passage } from "./passage.ts";
import type { RoundState } from "./rounds.ts";

export interface AskedRead {
  readonly upstream: string;
  readonly uri: string;
  readonly caller: Caller;
  readonly scope: CallScope;
  readonly signal: AbortSignal;
  readonly state: RoundState;
}

interface AllowedRead {
  /** For the next round of the same request. */
  readonly state: RoundState;
  /** The request is over: no round follows. */
  readonly over: () => void;
}

/** @throws ProtocolError when it was not allowed */
export async function allowedRead(ports: { readonly passage: Passage; readonly grants: Grants }, asked: AskedRead): Promise<AllowedRead> {
  const { passage, grants } = ports;
  const { state } = asked;
  const isAllowed = state.parked !== undefined || grants.take(state.grant);
  if (!isAllowed) await askLeave(passage, asked);
  const grant = grants.give();
  return { state: { ...state, grant }, over: () => void grants.take(grant) };
}

async function askLeave(passage: Passage, { upstream, uri, caller, scope, signal }: AskedRead): Promise<void> {
  const waiting = linkSignals(signal, scope.gone);
  try {
    const { id: principalId, name: client } = caller.principal;
    const args: JsonObject = { uri };
    const read = { callId: randomUUID(), upstream, original: uri, displayed: uri, uri, args, principalId, client };
    const answer = await passage.beforeCall({ ...read, signal: waiting.signal, probe: scope.probe });
    if (!answer.allowed) throw refused(answer.text);
    if (waiting.signal.aborted) throw refused("The request ended before its approval could take effect. Nothing was sent.");
  } finally {
    waiting.unlink();
  }
}

function refused(why: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidRequest, why);
}
