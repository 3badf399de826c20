/** What a person should know about what the tools can reach. */
import type { ToolDescriptor } from "../../shared/tool.ts";

const SHELLS = ["bash", "powershell"];
const WRITERS = ["write", "edit"];
const ELSEWHERE = "What a command leaves running ends when pimcp ends, unless it cleared its environment.";
const ON_WINDOWS = "A command that is stopped ends with the processes below it; what a finished command leaves running goes on.";

export interface Confinement {
  /** Real path. */
  readonly root: string;
  readonly deny: readonly string[];
  /** Real places closed to writing that the root contains or lies in. */
  readonly writeClosed: readonly string[];
  readonly tools: readonly ToolDescriptor[];
}

/** Sentences, most important first. Only where environments can be read is a process found again that left its parent. */
export function describeConfinement({ root, deny, writeClosed, tools }: Confinement, platform: NodeJS.Platform = process.platform): string[] {
  const names = tools.map((tool) => tool.name);
  const shells = names.filter((name) => SHELLS.includes(name));
  const files = names.filter((name) => !SHELLS.includes(name));
  const notes: string[] = [];
  if (shells.length > 0) {
    notes.push(
      `${list(shells)} can read, change and send anything this account can: commands are not confined to ${root}, and the deny list does not apply to them.`,
    );
  }
  if (files.length > 0) notes.push(`${list(files)} are confined to ${root}: links and paths that lead out of it are refused.`);
  if (files.length > 0 && deny.length > 0) notes.push(`Inside it, ${list(files)} refuse ${deny.join(", ")}.`);
  const writers = names.filter((name) => WRITERS.includes(name));
  if (writers.length > 0 && writeClosed.length > 0) {
    const verb = writers.length === 1 ? "refuses" : "refuse";
    const belong = writeClosed.length === 1 ? "belongs" : "belong";
    notes.push(
      `${list(writers)} ${verb} ${list(writeClosed)}, which ${belong} to pi-relay itself: start it with --root DIRECTORY to work elsewhere.`,
    );
  }
  if (shells.length > 0) notes.push(platform === "win32" ? ON_WINDOWS : ELSEWHERE);
  return notes;
}

function list(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1) ?? ""}`;
}
