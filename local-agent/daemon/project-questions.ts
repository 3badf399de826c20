/** The questions that a project's own files raise at the start, put to the person a few at a time. */
import type { ProjectTrust, TrustSubject } from "../adapter/ports.ts";

export interface ProjectQuestion {
  readonly subject: TrustSubject;
  /** Must not throw. */
  readonly onAllowed: () => void;
}

/** Of the places for questions (TR7) some are left to servers that somebody calls meanwhile. */
const AT_ONCE = 20;

/** In their order, the next ones as those before are decided; each once, until `signal` aborts. */
export function askInTurn(questions: readonly ProjectQuestion[], trust: ProjectTrust, signal: AbortSignal): void {
  const waiting = new Set(questions);
  let open = 0;
  const ask = async (question: ProjectQuestion): Promise<void> => {
    open += 1;
    const isAllowed = await trust.ask(question.subject, signal);
    open -= 1;
    if (signal.aborted) return;
    if (isAllowed) question.onAllowed();
    // There was no room for it. Whoever is decided next makes some.
    else if (trust.known(question.subject) === "unasked") return void waiting.add(question);
    askMore();
  };
  const askMore = (): void => {
    for (const question of waiting) {
      if (open >= AT_ONCE) return;
      waiting.delete(question);
      void ask(question);
    }
  };
  askMore();
}
