/** Prompts of upstreams as commands a person types: the line's arguments in, one message out. Pure. */
import type { GetPromptResult } from "@modelcontextprotocol/client";
import { err, ok } from "../../../shared/result.ts";
import type { Result } from "../../../shared/result.ts";
import type { UpstreamPrompt } from "../catalog/upstream-catalog.ts";

/**
 * [CL80] Words by position and `key=value`, either quoted; a named one beats its position, and names the prompt does not declare are kept.
 * The error names what is missing and how the command is used.
 */
export function promptArguments(line: string, prompt: UpstreamPrompt, command: string): Result<Readonly<Record<string, string>>, string> {
  const declared = prompt.arguments ?? [];
  const words = splitWords(line);
  if (!words.ok) return words;
  const named = new Map<string, string>();
  const positional: string[] = [];
  for (const { text, key } of words.value) {
    if (key === null) positional.push(text);
    else named.set(key, text);
  }
  const free = declared.map(({ name }) => name).filter((name) => !named.has(name));
  const extra = positional.slice(free.length);
  // A sentence for the last argument need not be quoted.
  const byPlace = free.map(
    (name, place) => [name, place === free.length - 1 ? [positional[place], ...extra].join(" ").trim() : positional[place]] as const,
  );
  const values = new Map([...byPlace.filter(([, value]) => value !== undefined && value !== ""), ...named] as readonly (readonly [string, string])[]);
  const missing = declared.filter(({ name, required }) => required === true && !values.has(name)).map(({ name }) => name);
  if (missing.length > 0) return err(`${missing.map((name) => `"${name}"`).join(", ")} must be given. Usage: /${command}${usageOf(declared)}`);
  if (free.length === 0 && extra.length > 0)
    return err(`"${extra.join(" ").slice(0, 200)}" is more than the prompt takes. Usage: /${command}${usageOf(declared)}`);
  return ok(Object.fromEntries(values));
}

/** [CL81] One message; who says what is marked where there are several. */
export function flattenPrompt(result: GetPromptResult): string {
  const several = result.messages.length > 1;
  return result.messages.map(({ role, content }) => (several ? `[${role}]\n${textOf(content)}` : textOf(content))).join("\n\n");
}

type PromptContent = GetPromptResult["messages"][number]["content"];

function textOf(content: PromptContent): string {
  switch (content.type) {
    case "text":
      return content.text;
    case "resource":
      return "text" in content.resource ? `[Resource: ${content.resource.uri}]\n${content.resource.text}` : `[Resource: ${content.resource.uri}]`;
    case "resource_link":
      return `[Resource: ${content.name}] ${content.uri}`;
    case "image":
    case "audio":
      return `[${content.type}: ${content.mimeType}]`;
    default:
      return "[content of an unknown type]";
  }
}

function usageOf(declared: NonNullable<UpstreamPrompt["arguments"]>): string {
  return declared.map(({ name, required }) => (required === true ? ` <${name}>` : ` [${name}]`)).join("");
}

interface Word {
  readonly text: string;
  readonly key: string | null;
}

const KEY = /^([A-Za-z_][\w.-]*)=/;
/** A key at most, then pieces of plain and quoted text. A backslash takes a quote, a blank or a backslash as it is. */
const WORD = /(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*'|\\$)+/gy;

function splitWords(line: string): Result<readonly Word[], string> {
  const words: Word[] = [];
  let at = 0;
  for (;;) {
    at += /^\s*/.exec(line.slice(at))?.[0].length ?? 0;
    if (at >= line.length) return ok(words);
    WORD.lastIndex = at;
    const [found] = WORD.exec(line) ?? [];
    if (found === undefined) return err(`The quote at "${line.slice(at, at + 40)}" has no end.`);
    words.push(wordOf(found));
    at += found.length;
  }
}

function wordOf(found: string): Word {
  const key = KEY.exec(found)?.[1] ?? null;
  const text = key === null ? found : found.slice(key.length + 1);
  return { key, text: unquoted(text) };
}

function unquoted(text: string): string {
  return text.replaceAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(["'\s\\])/g, (...found: readonly (string | undefined)[]) => {
    const [, double, single, escaped] = found;
    return double?.replaceAll(/\\(["\\])/g, "$1") ?? single ?? escaped ?? "";
  });
}
