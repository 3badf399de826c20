/** Shows what a command answers where the mode of Pi has a place for it. */
import type { ExtensionAPI, ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import { visibleBlock } from "../../shared/visible-text.ts";
import { writeAll } from "../node/write-all.ts";
import type { CommandAnswer } from "./mcp-subcommand.ts";

const STDOUT = 1;

/** A note for a person, the output of a single run, else a message of the session, which whoever drives it reads. */
export async function showAnswer(
  pi: ExtensionAPI,
  { hasUI, mode, ui }: Pick<ExtensionCommandContext, "hasUI" | "mode" | "ui">,
  answer: CommandAnswer,
): Promise<void> {
  // Servers and files have a say in it.
  const text = visibleBlock(answer.text);
  if (hasUI) ui.notify(text, answer.level);
  else if (mode === "print" && isPiProgram()) await writeAll(STDOUT, `${text}\n`);
  else pi.sendMessage({ customType: "mcp", content: text, display: true });
}

/** Pi's program keeps its output for answers and sends what others write elsewhere; a program that embeds Pi has its own output. */
function isPiProgram(): boolean {
  return Object.hasOwn(process.stdout, "write");
}
