/** What a person is shown of a call that waits for them. Pure, exact: what hides in it is made visible by the page. */
import { APPROVAL_HEAD_CHARS, type ApprovalRequest } from "../../shared/approval.ts";
import type { JsonObject } from "../../shared/json.ts";

export interface ShownCall {
  readonly text: string;
  readonly beside: string;
}

const SHELLS: ReadonlySet<string> = new Set(["bash", "powershell"]);

/** All of it: a shell's command as it is, with the other arguments beside it; of another tool all arguments. */
export function wholeCall({ tool, args }: Pick<ApprovalRequest, "tool" | "args">): ShownCall {
  const { command, ...others } = args;
  if (!SHELLS.has(tool) || typeof command !== "string") return { text: readable(args), beside: "" };
  return { text: command, beside: Object.keys(others).length === 0 ? "" : readable(others) };
}

/** As much as is sent to every page at once. `totalChars` counts what is shown and what is left out, so it is more than `text` has exactly then. */
export function headOf(whole: ShownCall): ShownCall & { readonly totalChars: number } {
  const text = head(whole.text);
  const beside = head(whole.beside);
  return { text, beside, totalChars: whole.text.length + whole.beside.length - beside.length };
}

function readable(args: JsonObject): string {
  return JSON.stringify(args, null, 2);
}

function head(text: string): string {
  const kept = text.slice(0, APPROVAL_HEAD_CHARS);
  // A pair cut in two would show a character that is not in the command.
  return kept.length < text.length && /[\ud800-\udbff]$/.test(kept) ? kept.slice(0, -1) : kept;
}
