import { asciiJson } from "../../shared/json.ts";

/** One line of JSON for programs; see `asciiJson`. */
export function jsonLine(value: unknown): string {
  return `${asciiJson(value)}\n`;
}
