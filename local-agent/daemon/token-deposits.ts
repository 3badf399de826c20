/** Which static tokens a relay knows: this run's own and those the person created. The file is theirs to change while the agent runs. */
import { statSync } from "node:fs";
import type { Clock, Log } from "../../shared/ports.ts";
import { OWN_TOKEN_NAME } from "../../shared/principal.ts";
import type { Deposits } from "../../shared/wire/frames.ts";
import { createdTokensPath, readCreatedTokens, staticTokensOf } from "./created-tokens.ts";
import type { StaticToken } from "./machine.ts";

type StaticTokens = Deposits["staticTokens"];

export interface TokenDeposits {
  /** For a hello. A file that has become unreadable lets nobody in. */
  forHello(): StaticTokens;
  /** The file has changed: tells the relay. Rejects with a sentence when the relay does not know of it then. */
  reload(): Promise<void>;
  /** The hello was answered: says what has changed since it was sent. */
  welcomed(): void;
}

export interface TokenDepositsOptions {
  readonly configDir: string;
  readonly own: StaticToken;
  readonly clock: Clock;
  readonly log: Log;
  /** Replaces what the relay knows. Rejects when it was not reached, or is too old to be told. */
  readonly send: (tokens: StaticTokens) => Promise<unknown>;
  /** The relay knows that these are none any more: no request of theirs comes after this. */
  readonly onEnded: (ids: readonly string[]) => void;
}

export function createTokenDeposits({ configDir, own, clock, log, send, onEnded }: TokenDepositsOptions): TokenDeposits {
  const ownToken = { id: own.sha256.slice(0, 16), name: OWN_TOKEN_NAME, sha256: own.sha256, scope: ["mcp"] };
  const read = (): StaticTokens => [ownToken, ...staticTokensOf(readCreatedTokens(configDir), clock.now())];
  const readOrNone = (): StaticTokens => {
    try {
      return read();
    } catch {
      log.event("error", "tokens.unreadable");
      return [ownToken];
    }
  };
  read(); // What is wrong with the file is said before anything is served.
  let said: StaticTokens = [];
  /** What the relay answered that it knows. */
  let known: StaticTokens = [];
  const told = (tokens: StaticTokens): void => {
    const ended = known.map(({ id }) => id).filter((id) => !tokens.some((token) => token.id === id));
    known = tokens;
    if (ended.length > 0) onEnded(ended);
  };
  return {
    forHello() {
      said = readOrNone();
      return said;
    },
    async reload() {
      const tokens = read();
      await send(tokens).catch((cause: unknown) => {
        throw new Error(`The relay could not be told: ${cause instanceof Error ? cause.message : String(cause)}.`, { cause });
      });
      said = tokens;
      told(tokens);
      log.event("info", "tokens.set", { tokens: tokens.length });
    },
    welcomed() {
      told(said);
      const tokens = readOrNone();
      if (JSON.stringify(tokens) === JSON.stringify(said)) return;
      said = tokens;
      send(tokens).then(
        () => told(tokens),
        () => log.event("warn", "tokens.unsaid"),
      );
    },
  };
}

/** For whoever checks tokens without a relay: what was created and holds now, read again when the file has changed. */
export function followCreatedTokens(configDir: string, clock: Clock, log: Log): () => StaticTokens {
  let seen = "";
  let tokens = readCreatedTokens(configDir);
  return () => {
    const found = statSync(createdTokensPath(configDir), { throwIfNoEntry: false });
    const version = found === undefined ? "" : `${found.ino} ${found.mtimeMs} ${found.ctimeMs} ${found.size}`;
    if (version !== seen) {
      seen = version;
      try {
        tokens = readCreatedTokens(configDir);
      } catch {
        log.event("error", "tokens.unreadable");
        tokens = [];
      }
    }
    return staticTokensOf(tokens, clock.now());
  };
}
