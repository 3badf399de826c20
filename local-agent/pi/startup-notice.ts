/** What the person is told once the servers that connect at the start have done so, or have not. */
import { visibleLine } from "../../shared/visible-text.ts";
import type { Adapter } from "../adapter/adapter.ts";
import { connectsAtStart } from "../adapter/upstream/lifecycle.ts";

type Tell = (text: string, level: "info" | "warning") => void;

/** [PI53] To be called at each change; tells at most once, when none of them is connecting any more. */
export function startupNotice({ pool, config }: Adapter, tell: Tell): () => void {
  const awaited = pool.servers().filter((name) => {
    const definition = pool.definition(name);
    return pool.state(name).at !== "disabled" && definition !== null && connectsAtStart(definition.lifecycle);
  });
  let isDone = awaited.length === 0 || !config.settings.notifyOnStartupConnect;
  return () => {
    if (isDone) return;
    const states = awaited.map((name) => ({ name, at: pool.state(name).at }));
    if (states.some(({ at }) => at === "connecting" || at === "idle")) return;
    isDone = true;
    const named = (wanted: boolean): string =>
      states.flatMap(({ name, at }) => ((at === "connected") === wanted ? [visibleLine(name, 100)] : [])).join(", ");
    const missing = named(false);
    if (named(true) !== "") tell(`MCP: connected to ${named(true)}.`, "info");
    if (missing !== "") tell(`MCP: not connected to ${missing}. /mcp status says why.`, "warning");
  };
}
