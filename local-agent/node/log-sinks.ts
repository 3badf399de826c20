/** Where log events go. stdout belongs to protocols, so people read stderr and machines a 0600 file of JSON lines. */
import { appendFileSync } from "node:fs";
import type { Log, LogFields, LogLevel } from "../../shared/ports.ts";
import { visibleLine } from "../../shared/visible-text.ts";

const WEIGHT: Record<LogLevel, number> = { error: 0, warn: 1, info: 2, debug: 3 };

/** One JSON object per line, appended synchronously so that a crash loses nothing; failures to write are ignored (a log must not throw). */
export function fileLog(path: string, most: LogLevel = "info"): Log {
  return {
    event(level, event, fields) {
      if (WEIGHT[level] > WEIGHT[most]) return;
      try {
        appendFileSync(path, `${JSON.stringify({ at: new Date().toISOString(), level, event, ...fields })}\n`, { mode: 0o600 });
      } catch {
        // A full disk must not end the agent.
      }
    },
  };
}

/** For `--verbose`: short lines on stderr. */
export function stderrLog(most: LogLevel = "info"): Log {
  return {
    event(level, event, fields) {
      if (WEIGHT[level] <= WEIGHT[most]) process.stderr.write(`${level} ${event}${formatFields(fields)}\n`);
    },
  };
}

export const silentLog: Log = { event() {} };

function formatFields(fields: LogFields | undefined): string {
  return Object.entries(fields ?? {})
    .map(([key, value]) => ` ${key}=${visibleLine(String(value))}`)
    .join("");
}
