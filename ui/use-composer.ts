import { useCallback, useEffect, useReducer, useRef, useState } from "preact/hooks";
import { parseJson } from "../shared/json.ts";
import { HUMAN_LIMITS } from "../shared/human/limits.ts";
import { hasWords, nextComposer, restoredComposer, storedComposer, type ComposerAction, type ComposerState } from "./composer-state.ts";
import type { ConversationApi } from "./conversation-api.ts";
import { newEntryId } from "./entry-id.ts";
import { sortFiles } from "./image-files.ts";
import { leaveWords, takeBackWords, takeLeftWords } from "./left-words.ts";

const KEY = "pi-relay.draft";

/** Leaves out what every action takes. */
type Change = ComposerAction extends infer A ? (A extends ComposerAction ? Omit<A, "freshId"> : never) : never;

export interface Composer {
  readonly state: ComposerState;
  readonly uploads: readonly Upload[];
  readonly uploadProblem: string | undefined;
  readonly change: (change: Change) => void;
  readonly attach: (files: readonly File[]) => void;
}

interface Upload {
  readonly key: string;
  readonly name: string;
}

/** `keptIds`: messages that the timeline shows, however they got there. */
export function useComposer(api: ConversationApi, isKept: (id: string) => boolean): Composer {
  const [state, dispatch] = useReducer(nextComposer, undefined, restored);
  const change = useCallback((change: Change) => dispatch({ ...change, freshId: newEntryId() }), []);
  useEffect(() => remember(state), [state]);
  useLeaving(state);
  useSending(api, state, change);
  // Its answer was lost, but it arrived.
  const isDraftKept = isKept(state.draft.id);
  useEffect(() => {
    if (isDraftKept) change({ t: "kept", id: state.draft.id });
  }, [isDraftKept, state.draft.id, change]);
  return { state, change, ...useUploads(api, state, change) };
}

/** What this tab had in its box before it was loaded again; an empty box takes over what another tab was left with. */
function restored(): ComposerState {
  const stored = sessionStorage.getItem(KEY) ?? "";
  takeBackWords(stored);
  const own = restoredComposer(parseJson(stored), newEntryId());
  if (hasWords(own)) return own;
  const left = restoredComposer(parseJson(takeLeftWords() ?? ""), newEntryId());
  return hasWords(left) ? { ...left, problem: "You wrote this in another tab, and it was not sent for certain." } : own;
}

/** Also when the page stops showing the box, because the agent was started anew: its new address is opened in another tab. */
function useLeaving(state: ComposerState): void {
  const latest = useRef(state);
  latest.current = state;
  useEffect(() => {
    const leave = (): void => {
      remember(latest.current);
      if (hasWords(latest.current)) leaveWords(storedComposer(latest.current));
    };
    const comeBack = (): void => takeBackWords(storedComposer(latest.current));
    window.addEventListener("pagehide", leave);
    window.addEventListener("pageshow", comeBack);
    return () => {
      window.removeEventListener("pagehide", leave);
      window.removeEventListener("pageshow", comeBack);
      leave();
    };
  }, []);
}

/** A draft beyond the storage's own bound stays in the box alone. */
function remember(state: ComposerState): void {
  try {
    sessionStorage.setItem(KEY, storedComposer(state));
  } catch {
    sessionStorage.removeItem(KEY);
  }
}

function useSending(api: ConversationApi, state: ComposerState, change: (change: Change) => void): void {
  const [next] = state.onTheWay;
  const sending = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (next === undefined || sending.current === next.id) return;
    sending.current = next.id;
    void api.say(next).then((outcome) => {
      sending.current = undefined;
      if (typeof outcome === "object") return change({ t: "refused", id: next.id, why: outcome.failed });
      if (outcome === "full") return change({ t: "refused", id: next.id, why: FULL });
      return change({ t: "kept", id: next.id });
    });
  }, [api, next, change]);
}

const FULL = `${HUMAN_LIMITS.queued.toLocaleString("en")} messages wait already, so this one was not taken. Wait until an app has read them, then send it again.`;

function useUploads(
  api: ConversationApi,
  { draft }: ComposerState,
  change: (change: Change) => void,
): Pick<Composer, "uploads" | "uploadProblem" | "attach"> {
  const [uploads, setUploads] = useState<readonly Upload[]>([]);
  const [uploadProblem, setProblem] = useState<string | undefined>(undefined);
  const room = HUMAN_LIMITS.imagesPerMessage - draft.images.length - uploads.length;
  const attach = (files: readonly File[]): void => {
    const { images, problem } = sortFiles(files, room);
    setProblem(problem);
    for (const file of images) {
      const upload = { key: newEntryId(), name: file.name };
      setUploads((old) => [...old, upload]);
      void api.putImage(file).then((image) => {
        setUploads((old) => old.filter(({ key }) => key !== upload.key));
        if ("failed" in image) setProblem(image.failed);
        else change({ t: "attached", image });
      });
    }
  };
  return { uploads, uploadProblem, attach };
}
