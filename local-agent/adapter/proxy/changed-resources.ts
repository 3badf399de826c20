/** What a model is told of resources that it may have to read again. Pure. */
import { visibleLine } from "../../../shared/visible-text.ts";
import type { UpstreamState } from "../upstream/upstream-pool.ts";

const MAX_NAMED = 3;
const MAX_CHARS = 120;

/** [CL57] At most two lines; none where nothing is known to have changed. */
export function changedResourceLines(state: UpstreamState): readonly string[] {
  if (state.at !== "connected" || state.changedResources === undefined) return [];
  const { certain, possible } = state.changedResources;
  return [...lineOf("Changed since it was read", certain), ...lineOf("May have changed since it was read", possible)];
}

function lineOf(what: string, uris: readonly string[]): readonly string[] {
  if (uris.length === 0) return [];
  const named = uris.slice(0, MAX_NAMED).map((uri) => visibleLine(uri, MAX_CHARS));
  const more = uris.length > MAX_NAMED ? ` and ${uris.length - MAX_NAMED} more` : "";
  return [`${what}: ${named.join(", ")}${more}`];
}
