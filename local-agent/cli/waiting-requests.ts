/** Which of the requests that wait is meant, and how each is called on a command line. Pure; nothing is ever guessed. */
import type { PendingAuthorization } from "../../shared/authorization.ts";
import { err, ok, type Result } from "../../shared/result.ts";

const SHOWN_CHARS = 6;

/** The beginning of an id that no other one waiting has: never digits alone, which would be a code, and never a dash first, as of a flag. */
export function shortId(id: string, all: readonly string[]): string {
  const whole = comparable(id);
  const others = all.filter((other) => other !== id).map(comparable);
  for (let length = SHOWN_CHARS; length < whole.length; length++) {
    const short = whole.slice(0, length);
    if (!/^[\d-]+$/.test(short) && !others.some((other) => other.startsWith(short))) return short;
  }
  return whole;
}

function comparable(id: string): string {
  return id.replace(/^-+/, "");
}

/** Why no request was chosen: `gone`: what was meant waits no longer; `unclear`: the person has to say more. */
interface NotChosen {
  readonly why: "gone" | "unclear";
  readonly sentence: string;
}

type Choice = Result<PendingAuthorization, NotChosen>;

/** How the person types a command that reaches the same agent. */
export interface Typing {
  /** `pimcp`, or `npm start --`. */
  readonly program: string;
  /** The flags that chose the agent, each behind a space (`choiceWords`). */
  readonly flags: string;
}

export function chooseToAllow(
  waiting: readonly PendingAuthorization[],
  asked: { readonly code: string | null; readonly id: string | null },
  typing: Typing,
): Choice {
  const { program, flags } = typing;
  const chosen = asked.id === null ? theOnly(waiting, typing) : byId(waiting, asked.id, typing);
  if (!chosen.ok) return chosen;
  const { codeRequired, id } = chosen.value;
  const short = shortOf(id, waiting);
  if (codeRequired && asked.code === null) {
    return unclear(`${short} needs the code that its waiting page shows: ${program} allow CODE${asked.id === null ? "" : ` ${short}`}${flags}`);
  }
  // Whoever read a code read it off another page than this one's.
  if (!codeRequired && asked.code !== null)
    return unclear(`${short} has no code, so the one you typed is of something else: ${program} allow ${short}${flags}`);
  return chosen;
}

export function chooseToDeny(waiting: readonly PendingAuthorization[], id: string, typing: Typing): Choice {
  return byId(waiting, id, typing);
}

function theOnly(waiting: readonly PendingAuthorization[], typing: Typing): Choice {
  const [first, ...others] = waiting;
  if (first === undefined) return gone("Nothing waits: start the connection in the app again.");
  if (others.length === 0) return ok(first);
  return unclear(
    `${waiting.length} apps wait, and which one is meant must be said: ${typing.program} allow CODE ID${typing.flags}. ${listed(waiting, typing)}`,
  );
}

function byId(waiting: readonly PendingAuthorization[], id: string, typing: Typing): Choice {
  const meant = comparable(id);
  const found = waiting.filter((each) => comparable(each.id).startsWith(meant));
  const [first, ...others] = found;
  if (first === undefined) {
    return gone(
      waiting.length === 0 ? "Nothing waits: start the connection in the app again." : `No request ${id} waits. ${listed(waiting, typing)}`,
    );
  }
  return others.length === 0 ? ok(first) : unclear(`${id} can be any of several. ${listed(found, typing)}`);
}

function listed(waiting: readonly PendingAuthorization[], { program, flags }: Typing): string {
  return `There ${waiting.length === 1 ? "is" : "are"} ${waiting.map(({ id }) => shortOf(id, waiting)).join(", ")}: ${program} pending${flags} shows them.`;
}

function shortOf(id: string, waiting: readonly PendingAuthorization[]): string {
  return shortId(
    id,
    waiting.map((each) => each.id),
  );
}

function gone(sentence: string): Choice {
  return err({ why: "gone", sentence });
}

function unclear(sentence: string): Choice {
  return err({ why: "unclear", sentence });
}
