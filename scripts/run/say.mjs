/** Progress goes to stderr: stdout may be speaking MCP. */
export function say(line) {
  process.stderr.write(`${line}\n`);
}

/** The sentence for an error about a file that node_modules should hold; undefined for any other error. */
export function incomplete(error) {
  const isMissing = error.code === "ENOENT" && /[\\/]node_modules([\\/]|$)/.test(String(error.path));
  return isMissing ? `node_modules is incomplete (${error.path} is missing): remove it and run this again.` : undefined;
}

/** For an expected failure: one line, no stack. */
export class Stop extends Error {
  constructor(message, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}
