/**
 * `/mcp disable` and `/mcp enable`: one word, `disabled`, in the project's strongest file. Definitions and secrets are never copied
 * there. Rules: docs/spec/upstream-config.md.
 */
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { applyEdits, findNodeAtLocation, modify, parseTree, type JSONPath } from "jsonc-parser";
import writeFileAtomic from "write-file-atomic";
import { isJsonObject, type JsonValue } from "../../shared/json.ts";
import { err, ok, type Result } from "../../shared/result.ts";
import { SERVER_KEYS } from "../adapter/config/config-document.ts";
import { isDisabledWithout, type ConfigFilesOptions } from "./config-files.ts";
import { configPlaces, projectOverrideFile } from "./config-places.ts";
import { jsoncValue, readBoundedText } from "./parsed-file.ts";

export interface Overridden {
  /** The file that decides it, absolute. */
  readonly file: string;
  /** What `disabled` is there now; `unset`: another file decides. */
  readonly disabled: boolean | "unset";
  readonly changed: boolean;
}

/**
 * Has `server` disabled or enabled for the project in `options.cwd`, whichever file configures it. Holds from the next load on.
 * The error is a sentence for the person; then nothing was written.
 */
export async function setServerState(
  server: string,
  wanted: "enabled" | "disabled",
  options: ConfigFilesOptions,
): Promise<Result<Overridden, string>> {
  const file = projectOverrideFile(options.cwd, options.env);
  const { isExclusive, global } = configPlaces(options);
  if (isExclusive)
    return err(`${file} does not count with PI_MCP_CONFIG_MODE=exclusive: change ${global[0]?.origin.file ?? "the one file that does"}.`);
  const read = await readBoundedText(file);
  if (read.state === "unusable") return err(`${file} cannot be changed: ${read.problem}.`);
  const text = read.state === "absent" || read.content.trim() === "" ? "{}\n" : read.content;
  const key = serversKey(text);
  if (key === null) return err(`${file} cannot be changed: expected a JSON object with an object "mcpServers"; correct it first.`);
  const disabled = wanted === "disabled" ? true : (await isDisabledWithout(file, server, options)) ? false : "unset";
  const changed = withDisabled(text, [key, server], disabled);
  if (changed === text) return ok({ file, disabled, changed: false });
  try {
    await mkdir(dirname(file), { recursive: true });
    // Through a link to what it names, under the mode that is there.
    await writeFileAtomic(file, changed);
    return ok({ file, disabled, changed: true });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    return err(`${file} cannot be written (${code}): make it and its directory writable.`);
  }
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

function withDisabled(text: string, entry: JSONPath, disabled: boolean | "unset"): string {
  const path = [...entry, "disabled"];
  if (disabled !== "unset") return edited(text, path, disabled);
  const tree = parseTree(text, [], { allowTrailingComma: true });
  if (tree === undefined || findNodeAtLocation(tree, path) === undefined) return text;
  // An entry that only switched the server off says nothing any more.
  const isOnly = findNodeAtLocation(tree, entry)?.children?.length === 1;
  return edited(text, isOnly ? entry : path, undefined);
}

/** Comments and the order of what is there stay. */
function edited(text: string, path: JSONPath, value: boolean | undefined): string {
  const insertSpaces = !/^\t/m.test(text);
  const tabSize = /^( {2,8})\S/m.exec(text)?.[1]?.length ?? 2;
  return applyEdits(text, modify(text, path, value, { formattingOptions: { insertSpaces, tabSize, eol: text.includes("\r\n") ? "\r\n" : "\n" } }));
}
