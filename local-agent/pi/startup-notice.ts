/** What the person is told at the start of a session: what is wrong with the configuration, and how connecting went. */
import { warningLine } from "../adapter/config/warning-line.ts";
import { visibleLine } from "../../shared/visible-text.ts";
import type { Adapter } from "../adapter/adapter.ts";
import { connectsAtStart } from "../adapter/upstream/lifecycle.ts";

type Tell = (text: string, level: "info" | "warning") => void;

/** [PI77] A file with a mistake may be all that there is, and then nothing else shows that it was read. */
export function configNotice({ config: { warnings } }: Pick<Adapter, "config">, tell: Tell): void {
  const [first, ...more] = warnings;
  if (first === undefined) return;
  const rest = more.length === 0 ? "" : ` /mcp status shows ${more.length} more.`;
  tell(`MCP configuration: ${warningLine(first)}.${rest}`, "warning");
}

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
