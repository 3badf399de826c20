/** As much of Pi's session as the adapter's ports ask of it, with a person who picks as a test says. */
import { EventEmitter } from "node:events";
import type { PiHost } from "../../local-agent/pi/pi-host.ts";
import { abortOf } from "./abort-of.ts";

export interface ScriptedPi {
  /** What is picked of the lines, or typed into an input (it has none); undefined: the dialog is dismissed. */
  readonly picks?: (title: string, options: readonly string[], signal: AbortSignal) => string | undefined | Promise<string | undefined>;
  /** Without a person at the terminal. */
  readonly isAlone?: boolean;
  /** Pi replaced the session meanwhile: everything of its context throws. */
  readonly isReplaced?: boolean;
  readonly isTrusted?: () => boolean;
  /** More of the context. */
  readonly context?: Readonly<Record<string, unknown>>;
}

/** @param scripted null: no session has begun */
export function scriptedPiHost(scripted: ScriptedPi | null): PiHost {
  const events = new EventEmitter();
  const pi = { events: { emit: (name: string, data: unknown) => void events.emit(name, data) }, appendEntry: () => {}, getMcpServers: () => [] };
  return { pi: pi as never, session: () => (scripted === null ? null : (contextOf(scripted) as never)) };
}

function contextOf({ picks = () => undefined, isAlone = false, isReplaced = false, isTrusted = () => false, context = {} }: ScriptedPi): object {
  // As in Pi, an abort takes the dialog away; what was picked in that very moment comes before.
  const pick = (title: string, options: readonly string[], { signal }: { signal: AbortSignal }): Promise<string | undefined> =>
    Promise.race([
      (async () => picks(title, options, signal))(),
      abortOf(signal).then(() => new Promise<undefined>((resolve) => setImmediate(() => resolve(undefined)))),
    ]);
  const ui = {
    select: pick,
    input: (title: string, _initial: string, options: { signal: AbortSignal }) => pick(title, [], options),
    notify: () => {},
  };
  const known = {
    ui,
    hasUI: !isAlone,
    mode: isAlone ? "print" : "tui",
    isProjectTrusted: isTrusted,
    sessionManager: { getBranch: () => [] },
    ...context,
  };
  if (!isReplaced) return known;
  return new Proxy(known, {
    get: () => {
      throw new Error("This context is stale.");
    },
  });
}
