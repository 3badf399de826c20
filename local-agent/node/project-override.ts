/**
 * `/mcp disable` and `/mcp enable`: one word, `disabled`, in the project's strongest file. Definitions and secrets are never copied
 * there. Rules: docs/spec/upstream-config.md.
 */
import { err, ok, type Result } from "../../shared/result.ts";
import { isDisabledWithout, type ConfigFilesOptions } from "./config-files.ts";
import { configPlaces, projectOverrideFile } from "./config-places.ts";
import { editServerField } from "./edit-config.ts";

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
  const disabled = wanted === "disabled" ? true : (await isDisabledWithout(file, server, options)) ? false : "unset";
  const written = await editServerField(file, { server, field: "disabled", value: disabled === "unset" ? undefined : disabled });
  return written.ok ? ok({ file, disabled, changed: written.value.changed }) : written;
}
