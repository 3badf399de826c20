/** `pimcp audit`: the audit log of this account, as a table for people or as JSON. */
import type { AuditEntry } from "../../shared/audit.ts";
import { visibleLine } from "../../shared/visible-text.ts";
import { readAudit, type AuditReading } from "../daemon/audit-reader.ts";
import { EXIT, type ExitCode } from "../daemon/start-failure.ts";
import { AUDIT_HELP, type AuditOrder } from "./audit-arguments.ts";
import { jsonLine } from "./json-line.ts";

export interface AuditSurroundings {
  /** `Directories.state`. */
  readonly stateDir: string;
  readonly show: (text: string) => void;
}

/** Throws `StartFailure` when the log cannot be read. */
export function runAuditCommand(order: AuditOrder, { stateDir, show }: AuditSurroundings): ExitCode {
  if (order.kind === "help") {
    show(AUDIT_HELP);
    return EXIT.asked;
  }
  const reading = readAudit(stateDir, order.last);
  show(order.json ? jsonLine(reading) : tableText(reading));
  return EXIT.asked;
}

/** Pure. */
export function tableText({ entries, unreadable }: AuditReading): string {
  const lines = entries.map((entry) => `${localTime(entry.at)}  ${EVENTS[entry.event].padEnd(EVENT_COLUMNS)}  ${factsOf(entry)}\n`);
  const missing = unreadable === 0 ? "" : `${unreadable} ${unreadable === 1 ? "line" : "lines"} could not be read.\n`;
  return lines.length === 0 && missing === "" ? "Nothing was written to the audit log yet.\n" : `${lines.join("")}${missing}`;
}

const EVENTS: Readonly<Record<AuditEntry["event"], string>> = {
  "approval.asked": "asked",
  "approval.allowed_once": "allowed once",
  "approval.allowed_sitting": "allowed for the sitting",
  "approval.passed": "passed, allowed before",
  "approval.denied": "denied",
  "approval.withdrawn": "withdrawn",
  "authorization.decided": "app decided",
  "grants.revoked": "access taken back",
  "approvals.forgotten": "sitting forgotten",
  "server.allowed": "server allowed",
  "server.denied": "server denied",
  "agent.started": "agent started",
  "agent.stopped": "agent ended",
};
const EVENT_COLUMNS = Math.max(...Object.values(EVENTS).map((name) => name.length));

function factsOf(entry: AuditEntry): string {
  if ("argsSha256" in entry) return callFacts(entry);
  switch (entry.event) {
    case "authorization.decided":
      return shown(`“${visibleLine(entry.client, 100)}”`, `at ${visibleLine(entry.redirectHost, 200)}`, visibleLine(entry.outcome, 30));
    case "grants.revoked":
      return shown(entry.all ? "all" : entry.ids.map((id) => visibleLine(id, 100)).join(" "), `${entry.revoked} ended`);
    case "approvals.forgotten":
      return `${entry.calls} exact calls`;
    case "server.allowed":
    case "server.denied":
      return shown(
        entry.server === "" ? "settings" : visibleLine(entry.server, 100),
        `of ${entry.files.map((file) => visibleLine(file, 200)).join(", ")}`,
        `sha256 ${visibleLine(entry.entrySha256, 64).slice(0, 12)}`,
      );
    case "agent.started":
    case "agent.stopped":
      return shown(visibleLine(entry.root, 200), guardedText(entry.guarded), `process ${entry.agent}`);
  }
}

function callFacts(entry: Extract<AuditEntry, { argsSha256: string }>): string {
  return shown(
    visibleLine(entry.tool, 100),
    visibleLine(entry.client, 200),
    `sha256 ${visibleLine(entry.argsSha256, 64).slice(0, 12)}`,
    argumentsText(entry),
    reasonText(entry.reasonChars),
    entry.why === undefined ? "" : `because ${visibleLine(entry.why, 300)}`,
  );
}

function shown(...facts: readonly string[]): string {
  return facts.filter((fact) => fact !== "").join(" · ");
}

function guardedText(guarded: readonly string[]): string {
  return guarded.length === 0 ? "no tool guarded" : `guarded: ${guarded.map((tool) => visibleLine(tool, 100)).join(", ")}`;
}

function argumentsText({ args, argsHead }: Pick<Extract<AuditEntry, { tool: string }>, "args" | "argsHead">): string {
  if (args !== undefined) return visibleLine(JSON.stringify(args), 300);
  return argsHead === undefined ? "" : visibleLine(argsHead, 300);
}

function reasonText(chars: number | undefined): string {
  return chars === undefined || chars === 0 ? "" : `with a reason of ${chars} characters`;
}

/** In the zone of this machine: people compare it with their own clock. */
function localTime(at: string): string {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return visibleLine(at, 24).padEnd(19);
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} ${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
}
