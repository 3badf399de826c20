/** Progress goes to stderr: stdout may be speaking MCP. */
export function say(line) {
  process.stderr.write(`${line}\n`);
}

/** For an expected failure: one line, no stack. */
export class Stop extends Error {
  constructor(message, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}
