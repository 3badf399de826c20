/** Where the thread of a script runs, and how it is spoken to: JSON texts of at most `SCRIPT_LIMITS.messageChars` in both directions. */
export interface ScriptPlace {
  /** After the end nothing happens. */
  send(text: string): void;
  /** Ends everything that was started, whatever the script does. Resolves when it is gone; may be called again. */
  end(): Promise<void>;
}

export interface ScriptPlaceEvents {
  readonly message: (text: string) => void;
  /** It ended by itself. `memory`: it took too much. Otherwise a sentence. */
  readonly ended: (why: { readonly how: "memory" } | { readonly how: "threw"; readonly message: string }) => void;
}

export type OpenScriptPlace = (code: string, events: ScriptPlaceEvents) => ScriptPlace;
