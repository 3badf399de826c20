/** Changes what one file configures for one server, and nothing else of the file. Rules: docs/spec/upstream-config.md. */
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { applyEdits, findNodeAtLocation, modify, parseTree, type JSONPath } from "jsonc-parser";
import lockfile from "proper-lockfile";
import writeFileAtomic from "write-file-atomic";
import { isJsonObject, type JsonValue } from "../../shared/json.ts";
import { kindOf } from "../../shared/kind-of.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import { SERVER_KEYS } from "../adapter/config/config-document.ts";
import { jsoncValue, readBoundedText } from "./parsed-file.ts";

export interface ServerField {
  readonly server: string;
  readonly field: string;
  /** `undefined`: the field is taken away, and the entry with it when nothing else is in it. */
  readonly value: boolean | string | readonly string[] | undefined;
}

/** Held for milliseconds; one that was left by a kill goes stale, and the retries outlast it. */
const LOCK = { realpath: false, stale: 2000, onCompromised: () => {}, retries: { retries: 100, factor: 1, minTimeout: 50, maxTimeout: 50 } };

/**
 * Writes one field of one server into `file`, which is made with its directory where there is none. Resolves with whether anything
 * had to be written. The error is a sentence for the person; then nothing was written. Of several at once, also in several processes,
 * none undoes another.
 */
export async function editServerField(file: string, field: ServerField): Promise<Result<{ readonly changed: boolean }, string>> {
  const planned = await plannedText(file, field);
  if (!planned.ok) return planned;
  if (planned.value === null) return ok({ changed: false });
  try {
    await mkdir(dirname(file), { recursive: true });
    return await alone(file, field);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    return err(`${file} cannot be written (${code}): make it and its directory writable.`);
  }
}

/** What is written is made of what the file holds then. Rejects with what the system says. */
async function alone(file: string, field: ServerField): Promise<Result<{ readonly changed: boolean }, string>> {
  const release = await lockfile.lock(file, LOCK);
  try {
    const planned = await plannedText(file, field);
    if (!planned.ok) return planned;
    // Through a link to what it names, under the mode that is there.
    if (planned.value !== null) await writeFileAtomic(file, planned.value);
    return ok({ changed: planned.value !== null });
  } finally {
    // Overruled meanwhile, there is nothing left to release.
    await release().catch(() => {});
  }
}

/** The file's text with the change in it; null: it says so already. */
async function plannedText(file: string, field: ServerField): Promise<Result<string | null, string>> {
  const read = await readBoundedText(file);
  if (read.state === "unusable") return err(`${file} cannot be changed: ${read.problem}.`);
  const text = read.state === "absent" || read.content.trim() === "" ? "{}\n" : read.content;
  const key = serversKey(text);
  if (key === null) return err(`${file} cannot be changed: expected a JSON object with an object "mcpServers"; correct it first.`);
  const name = JSON.stringify(field.server.slice(0, 200));
  const entry = memberOf(jsoncValue(text), key, field.server);
  if (entry !== undefined && !isJsonObject(entry))
    return err(`${file} cannot be changed: expected an object for ${name}, got ${kindOf(entry)}; correct it first.`);
  const changed = withField(text, key, field);
  // Of members with one name the first is changed, and the last counts.
  if (!isDeepStrictEqual(memberOf(jsoncValue(changed), key, field.server, field.field), field.value))
    return err(`${file} cannot be changed: what it says of ${name} stands there twice; correct it first.`);
  return ok(changed === text ? null : changed);
}

/** The name of the table of servers; null when the text is no configuration. */
function serversKey(text: string): string | null {
  let content: JsonValue | undefined;
  try {
    content = jsoncValue(text) ?? {};
  } catch {
    return null; // The caller says which file has to be corrected.
  }
  if (!isJsonObject(content)) return null;
  const object = content;
  const key = SERVER_KEYS.find((name) => Object.hasOwn(object, name));
  if (key === undefined) return "mcpServers";
  return isJsonObject(object[key]) ? key : null;
}

/** Undefined: it is not there. */
function memberOf(value: JsonValue | undefined, ...path: readonly string[]): JsonValue | undefined {
  return path.reduce((at: JsonValue | undefined, name) => (isJsonObject(at) && Object.hasOwn(at, name) ? at[name] : undefined), value);
}

function withField(text: string, key: string, { server, field, value }: ServerField): string {
  const entry = [key, server];
  const path = [...entry, field];
  if (value !== undefined) return edited(text, path, value);
  const tree = parseTree(text, [], { allowTrailingComma: true });
  if (tree === undefined || findNodeAtLocation(tree, path) === undefined) return text;
  // An entry that only said this says nothing any more.
  const isOnly = findNodeAtLocation(tree, entry)?.children?.length === 1;
  return edited(text, isOnly ? entry : path, undefined);
}

/** Comments and the order of what is there stay. */
function edited(text: string, path: JSONPath, value: ServerField["value"]): string {
  const insertSpaces = !/^\t/m.test(text);
  const tabSize = /^( {2,8})\S/m.exec(text)?.[1]?.length ?? 2;
  return applyEdits(text, modify(text, path, value, { formattingOptions: { insertSpaces, tabSize, eol: text.includes("\r\n") ? "\r\n" : "\n" } }));
}
