/** A person who is asked about a project's servers and answers as a test says. */
import type { ProjectTrust, TrustSubject } from "../../local-agent/adapter/ports.ts";
import { abortOf } from "./abort-of.ts";

export interface TrustScript {
  /** Of everything that nothing was decided about. */
  known: ReturnType<ProjectTrust["known"]>;
  answer: boolean | "never" | "nobody";
  readonly asked: TrustSubject[];
  /** As the agent's restart does with what was denied. */
  forget: () => void;
}

/** What the script says later counts from then on. */
export function scriptedTrust(given: Partial<Pick<TrustScript, "known" | "answer">> = {}): {
  readonly script: TrustScript;
  readonly trust: ProjectTrust;
} {
  const decided = new Map<string, boolean>();
  const script: TrustScript = { known: "allowed", answer: true, ...given, asked: [], forget: () => decided.clear() };
  const known = (subject: TrustSubject): ReturnType<ProjectTrust["known"]> => {
    const decision = decided.get(keyOf(subject));
    return decision === undefined ? script.known : decision ? "allowed" : "denied";
  };
  const trust: ProjectTrust = {
    known,
    async ask(subject, signal) {
      if (signal.aborted) return false;
      if (known(subject) !== "unasked") return known(subject) === "allowed";
      script.asked.push(subject);
      if (script.answer === "never") await abortOf(signal);
      if (typeof script.answer !== "boolean" || signal.aborted) return false;
      decided.set(keyOf(subject), script.answer);
      return script.answer;
    },
  };
  return { script, trust };
}

function keyOf({ server, text }: TrustSubject): string {
  return JSON.stringify([server, text]);
}
