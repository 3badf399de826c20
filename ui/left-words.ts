/**
 * Words in the box of a tab that was closed, or whose agent was started anew and has another address: the next tab takes
 * them over. They lie in the browser's storage for this address until then.
 */
import * as v from "valibot";
import { parseJson } from "../shared/json.ts";

const KEY = "pi-relay.left";
/** More tabs than this are not left with words in them. */
const MAX_LEFT = 20;
const Left = v.array(v.string());

/** Once for each text, the latest last. */
export function leaveWords(words: string): void {
  store([...leftWords().filter((left) => left !== words), words].slice(-MAX_LEFT));
}

/** This tab lives on, and has these words itself. */
export function takeBackWords(words: string): void {
  store(leftWords().filter((left) => left !== words));
}

/** The latest ones, which nobody else is given afterwards; undefined: there are none. */
export function takeLeftWords(): string | undefined {
  const all = leftWords();
  if (all.length > 0) store(all.slice(0, -1));
  return all.at(-1);
}

function leftWords(): readonly string[] {
  try {
    const stored = v.safeParse(Left, parseJson(localStorage.getItem(KEY) ?? ""));
    return stored.success ? stored.output : [];
  } catch {
    return []; // Storage that is switched off keeps nothing.
  }
}

function store(words: readonly string[]): void {
  try {
    if (words.length === 0) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, JSON.stringify(words));
  } catch {
    // As above, or there is no room: then they are in their own tab only.
  }
}
