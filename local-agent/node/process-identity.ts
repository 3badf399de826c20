/** Process ids are reused, so a recorded pid alone must never decide whom to wait for, and still less whom to kill. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

export interface ProcessIdentity {
  readonly pid: number;
  /** When the process began, in the words of the system; "" where it cannot be told. */
  readonly began: string;
}

/** The identity of a living process; `undefined` when there is none with that pid (a zombie counts as none). */
export function identify(pid: number): ProcessIdentity | undefined {
  if (!isAlive(pid)) return undefined;
  if (process.platform === "linux") return identifyOnLinux(pid);
  if (process.platform === "win32") return { pid, began: "" };
  try {
    const began = execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], {
      encoding: "utf8",
      timeout: 2000,
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
    return began === "" ? undefined : { pid, began };
  } catch {
    return { pid, began: "" }; // No ps: the pid alone has to do.
  }
}

/** Whether that very process still runs. */
export function isStillRunning(recorded: ProcessIdentity): boolean {
  const now = identify(recorded.pid);
  return now !== undefined && (recorded.began === "" || now.began === "" || now.began === recorded.began);
}

/** Ends that very process, and nothing else that got its pid since. */
export function killExactly(recorded: ProcessIdentity): void {
  if (recorded.began === "" || !isStillRunning(recorded)) return;
  try {
    process.kill(recorded.pid, "SIGKILL");
  } catch {
    // It ended between the look and the signal.
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it is there and belongs to another account.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** Field 3 is the state, field 22 the start in clock ticks since boot; the name in field 2 may hold spaces and parentheses (proc(5)). */
function identifyOnLinux(pid: number): ProcessIdentity | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z" || fields[0] === "X") return undefined;
    return { pid, began: `${bootId()}:${fields[19] ?? ""}` };
  } catch {
    return undefined;
  }
}

function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "";
  }
}
