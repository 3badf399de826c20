/** The real Pi in a terminal: tmux holds the screen, a test types and reads. */
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { type PiPlace, piCommand } from "./pi-program.ts";
import { waitUntil } from "./wait-until.ts";

export interface PiTerminal extends AsyncDisposable {
  /** What is on the screen now. */
  screen(): string;
  shows(words: string, withinMs?: number): Promise<void>;
  /** Names of keys as tmux has them: `Enter`, `Down`, `Escape`, `C-o`. */
  press(...keys: readonly string[]): void;
  /** A line, and Enter. */
  type(line: string): void;
}

export function openTerminal(place: PiPlace): PiTerminal {
  // A server of its own: nothing of the person's tmux is touched, and one command ends it.
  const socket = `pi-relay-${randomUUID()}`;
  const { command, args, cwd, env } = piCommand(place, { mode: "tui", args: ["--no-session"] });
  const tmux = (...words: readonly string[]): string =>
    execFileSync("tmux", ["-L", socket, "-f", "/dev/null", ...words], { cwd, env, encoding: "utf8" });
  const quoted = [command, ...args].map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(" ");
  try {
    tmux("new-session", "-d", "-x", "110", "-y", "45", quoted);
  } catch (error) {
    throw new Error("This needs tmux: apt-get install tmux.", { cause: error });
  }
  const screen = (): string => tmux("capture-pane", "-p");
  return {
    screen,
    async shows(words, withinMs = 20_000) {
      await waitUntil(`the screen shows ${words}`, () => screen().includes(words), withinMs).catch((error: unknown) => {
        throw new Error(`${String(error)}\n${screen()}`);
      });
    },
    press: (...keys) => void tmux("send-keys", ...keys),
    type(line) {
      tmux("send-keys", "-l", line);
      tmux("send-keys", "Enter");
    },
    async [Symbol.asyncDispose]() {
      tmux("kill-server");
      await place.home.expectNothingLeft();
    },
  };
}
