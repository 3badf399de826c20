/** What became of a message of the person, in words. Pure. */
import type { Typed } from "../shared/human/entry.ts";

export interface MessageMark {
  readonly word: string;
  readonly meaning: string;
}

const MARKS: Record<Typed["state"] | "unsent", MessageMark> = {
  unsent: { word: "waiting for the relay", meaning: "Safe on this computer's disk; it is sent when the relay can be reached again." },
  queued: { word: "queued", meaning: "Kept. The app gets it when it next asks or waits." },
  delivered: { word: "delivered", meaning: "On its way in an answer to the app." },
  read: { word: "read", meaning: "The answer that carried it reached the app whole." },
};

export function messageMark(state: Typed["state"] | "unsent", repeat: boolean): MessageMark {
  const mark = MARKS[state];
  if (!repeat) return mark;
  return {
    word: `${mark.word} · again`,
    meaning: `${mark.meaning} It was on its way before and may have arrived then: the app is told that it is a repeat.`,
  };
}
