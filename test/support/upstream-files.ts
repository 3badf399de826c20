/** Configuration files with the fixture servers as upstreams, as a person would have them. */
import { join } from "node:path";

const FIXTURES = join(import.meta.dirname, "../fixtures/upstreams");

export interface ServerEntry extends Record<string, unknown> {
  readonly command?: string;
  readonly args?: readonly string[];
}

/** An entry that starts the fixture `name` with the Node of this test. */
export function fixtureEntry(name: string, args: readonly string[] = [], more: Record<string, unknown> = {}): ServerEntry {
  return { command: process.execPath, args: ["--disable-warning=ExperimentalWarning", join(FIXTURES, `${name}.ts`), ...args], ...more };
}

export function mcpJson(mcpServers: Readonly<Record<string, ServerEntry>>, settings: Record<string, unknown> = {}): string {
  return JSON.stringify({ mcpServers, settings }, null, 2);
}
