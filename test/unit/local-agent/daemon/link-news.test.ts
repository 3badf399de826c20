import { expect, test } from "vitest";
import { createLinkNews } from "../../../../local-agent/daemon/link-news.ts";

const waiting = (reason: string) => ({ at: "waiting", since: 0, retryAt: 1, reason }) as const;

test("[ST53] a lost link is said once, and so is its return", () => {
  const news = createLinkNews("https://r.example");
  const lines = [
    { at: "connecting", since: 0 } as const,
    { at: "open", since: 0 } as const,
    waiting("Nothing answers."),
    { at: "connecting", since: 0 } as const,
    waiting("Nothing answers."),
    waiting("It stopped answering."),
    { at: "open", since: 0 } as const,
    { at: "open", since: 0 } as const,
  ].map((state) => news.lineFor(state));
  expect(lines).toEqual([
    undefined,
    undefined,
    "No connection to https://r.example: Nothing answers. Trying again.",
    undefined,
    undefined,
    "No connection to https://r.example: It stopped answering. Trying again.",
    "Connected to https://r.example again.",
    undefined,
  ]);
});
