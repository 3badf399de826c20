/** What a start or a run may end with. Scripts and service managers read these numbers (docs/spec/start.md). */
export const EXIT = {
  /** Ended because somebody asked: Ctrl-C, a signal, the parent went away, stdin closed. */
  asked: 0,
  /** Something broke while running. */
  failed: 1,
  /** A flag, a setting or the machine has to be changed first: unknown flag, missing root, busy port, another agent. */
  usage: 2,
  /** The relay does not want this agent: wrong key, another machine holds the workspace, replaced by a newer start. */
  refused: 3,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A refusal for a person: one sentence that says what is wrong and the way out. It is printed as it is, without a stack. */
export class StartFailure extends Error {
  readonly exitCode: ExitCode;

  constructor(sentence: string, exitCode: ExitCode = EXIT.usage, options?: ErrorOptions) {
    super(sentence, options);
    this.name = "StartFailure";
    this.exitCode = exitCode;
  }
}

/** The `code` of a system error (`EADDRINUSE`), if it has one. */
export function systemErrorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
