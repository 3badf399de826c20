/** Upstream fixtures as programs, and what their journals say. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";

/** The command line of a fixture (test/fixtures/upstreams). */
export function fixtureCommand(name: string, ...flags: readonly string[]): { command: string; args: string[] } {
  return { command: process.execPath, args: [join(import.meta.dirname, "../fixtures/upstreams", `${name}.ts`), ...flags] };
}

/** Starts a fixture that listens and gives what it printed first: {url} or {socket}. It ends with the test. */
export async function listeningFixture(name: string, ...flags: readonly string[]): Promise<{ url: string; socket: string; child: ChildProcess }> {
  const { command, args } = fixtureCommand(name, ...flags);
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  for await (const line of createInterface(child.stdout)) return { ...(JSON.parse(line) as { url: string; socket: string }), child };
  throw new Error(`${name} ended before it listened`);
}

export interface JournalEntry {
  readonly event: "start" | "call" | "end";
  readonly pid: number;
  readonly tool?: string;
}

export function readJournal(file: string): JournalEntry[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as JournalEntry);
}
