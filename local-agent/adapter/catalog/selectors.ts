/**
 * Which tools a name or glob in the configuration means (`includeTools`, `excludeTools`, `approveTools`, `searchKeywords`, calls). A tool
 * answers to its own name and to it under every prefix. Spellings of older versions count, too, unless they are what another server's
 * tool is called today: then they mean that one. What withholds a tool or has it asked about counts for that one as well: else a hostile
 * server would take the guard off another's tool by what it calls its own.
 */
import type { ToolPrefix } from "../config/server-definition.ts";
import { prefixed, serverForm, serverPrefix, toolForm } from "./names.ts";

export interface NamedTool {
  readonly server: string;
  readonly original: string;
}

export interface ToolSelectors {
  /** Whether one of the names or globs means the tool. Case counts; a glob spans the whole name. */
  matches(tool: NamedTool, patterns: readonly string[]): boolean;
  /** As `matches`, for patterns that withhold a tool or have it asked about: earlier spellings count whoever has them today. */
  guards(tool: NamedTool, patterns: readonly string[]): boolean;
  /** Every name the tool answers to. */
  namesOf(tool: NamedTool): ReadonlySet<string>;
}

/**
 * @param tools every tool of every enabled server, so that nobody's name is taken for another's
 * @param prefixOf how a server's tools are prefixed
 */
export function createToolSelectors(tools: Iterable<NamedTool>, prefixOf: (server: string) => ToolPrefix): ToolSelectors {
  const formsOf = remembered((server: string) => serverForms(server, prefixOf(server)));
  // Most configurations select nothing, and a start with thousands of tools should not pay for that.
  let claims: ReadonlyMap<string, string | null> | null = null;
  const known = new Map<string, Map<string, ReadonlySet<string>>>();

  function namesOf(tool: NamedTool): ReadonlySet<string> {
    const ofServer = known.get(tool.server) ?? new Map<string, ReadonlySet<string>>();
    known.set(tool.server, ofServer);
    const names = ofServer.get(tool.original) ?? allNames(tool);
    ofServer.set(tool.original, names);
    return names;
  }

  function allNames(tool: NamedTool): ReadonlySet<string> {
    const forms = formsOf(tool.server);
    const names = currentNames(tool, forms);
    claims ??= claimedNames(tools, formsOf);
    for (const name of earlierNames(tool, forms, names)) {
      if (isFree(claims.get(name), tool.server)) names.add(name);
    }
    return names;
  }

  return {
    namesOf,
    matches: (tool, patterns) => patterns.length > 0 && isMeant(namesOf(tool), patterns),
    guards(tool, patterns) {
      if (patterns.length === 0) return false;
      const forms = formsOf(tool.server);
      const names = currentNames(tool, forms);
      return isMeant(new Set([...names, ...earlierNames(tool, forms, names)]), patterns);
    },
  };
}

function isMeant(names: ReadonlySet<string>, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => (isGlob(pattern) ? anyMatches(pattern, names) : names.has(pattern)));
}

/** `*` is any number of characters, `?` is one. Only the last star is ever tried anew, so no pattern costs more than its length times the text's. */
export function matchesGlob(pattern: string, text: string): boolean {
  let at = 0;
  let inPattern = 0;
  let star = -1;
  let resume = 0;
  while (at < text.length) {
    const expected = pattern[inPattern];
    if (expected === "*") {
      star = inPattern;
      resume = at;
      inPattern += 1;
    } else if (expected === "?" || expected === text[at]) {
      inPattern += 1;
      at += 1;
    } else if (star >= 0) {
      resume += 1;
      at = resume;
      inPattern = star + 1;
    } else return false;
  }
  while (pattern[inPattern] === "*") inPattern += 1;
  return inPattern === pattern.length;
}

function isGlob(pattern: string): boolean {
  return /[*?]/.test(pattern);
}

function anyMatches(pattern: string, names: Iterable<string>): boolean {
  for (const name of names) if (matchesGlob(pattern, name)) return true;
  return false;
}

function isFree(claim: string | null | undefined, server: string): boolean {
  return claim === undefined || claim === server;
}

/** What each name means today; null: tools of several servers. */
function claimedNames(tools: Iterable<NamedTool>, formsOf: (server: string) => ServerForms): ReadonlyMap<string, string | null> {
  const claims = new Map<string, string | null>();
  for (const tool of tools) {
    for (const name of currentNames(tool, formsOf(tool.server))) {
      claims.set(name, isFree(claims.get(name), tool.server) ? tool.server : null);
    }
  }
  return claims;
}

/** What all tools of one server have in common. */
interface ServerForms {
  readonly form: string;
  /** With hyphens written as numbers, too. */
  readonly numbered: string;
  /** The active one first. */
  readonly prefixes: readonly string[];
}

const PREFIXES: readonly ToolPrefix[] = ["server", "short", "mcp"];

function serverForms(server: string, active: ToolPrefix): ServerForms {
  const form = serverForm(server);
  const prefixes = [active, ...PREFIXES].map((mode) => serverPrefix(server, mode));
  return { form, numbered: form.replaceAll("-", "_2d_"), prefixes: [...new Set(prefixes)] };
}

function currentNames({ original }: NamedTool, { form, prefixes }: ServerForms): Set<string> {
  const tool = toolForm(original);
  const names = new Set([original]);
  for (const prefix of prefixes) names.add(prefixed(prefix, tool));
  return names.add(`${form}__${tool}`);
}

/** A shown name for when the usual ones are contested: no other server's tool can have it by its prefix alone. */
export function unmistakableName(tool: string, server: string): string {
  return `${serverForm(server)}__${toolForm(tool)}`;
}

/** With underscores for hyphens, with hyphens of the server written as numbers, and with the prefix doubled. */
function earlierNames({ original }: NamedTool, { numbered, prefixes }: ServerForms, current: Iterable<string>): Set<string> {
  const tool = toolForm(original);
  const plain = tool.replaceAll("-", "_");
  const names = new Set([`${numbered}_${plain}`, `mcp__${numbered}_${plain}`]);
  for (const name of current) names.add(name.replaceAll("-", "_"));
  for (const prefix of prefixes) if (prefix !== "") names.add(`${prefix}_${tool}`);
  return names;
}

function remembered<T>(compute: (name: string) => T): (name: string) => T {
  const known = new Map<string, T>();
  return (name) => {
    const value = known.get(name) ?? compute(name);
    known.set(name, value);
    return value;
  };
}
