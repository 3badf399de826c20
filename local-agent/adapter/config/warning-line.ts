/** What is wrong with a file of the configuration, in one line. Pure. */
import { visibleLine } from "../../../shared/visible-text.ts";
import type { ConfigWarning } from "./server-definition.ts";

/** A project's file is a stranger's text, too: its names in a line of their own would pass for this program's own words. */
export function warningLine({ file, server, message }: ConfigWarning): string {
  return `${visibleLine(file, 300)}${server === null ? "" : ` (${visibleLine(server, 200)})`}: ${visibleLine(message, 600)}`;
}
