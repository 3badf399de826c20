/** Has Pi show what the adapter is and does: tools, commands, footer, notes, and the report for other extensions. */
import type { Adapter } from "../adapter/adapter.ts";
import { footerText } from "./footer.ts";
import { MCP_STATUS_EVENT, statusSnapshot } from "./mcp-status.ts";
import type { PiHost } from "./pi-host.ts";
import type { PiTools } from "./pi-tools.ts";
import type { PromptCommands } from "./prompt-commands.ts";
import { configNotice, startupNotice } from "./startup-notice.ts";

export interface Attached {
  readonly host: PiHost;
  readonly tools: Pick<PiTools, "sync">;
  readonly prompts: PromptCommands;
}

/** The returned function lets go: nothing the adapter does afterwards is seen in Pi. */
export function attachAdapter(adapter: Adapter, { host, tools, prompts }: Attached): () => void {
  const tell = (text: string, level: "info" | "warning"): void => host.session()?.ui.notify(text, level);
  const tellStart = startupNotice(adapter, tell);
  const onChange = (): void => {
    host.pi.events.emit(MCP_STATUS_EVENT, statusSnapshot(adapter, Date.now()));
    host.session()?.ui.setStatus("mcp", footerText(adapter));
    tellStart();
  };
  tools.sync(adapter);
  prompts.sync(adapter);
  onChange();
  configNotice(adapter, tell);
  return adapter.subscribe((event) => {
    if (event.t === "tools") tools.sync(adapter);
    if (event.t === "prompts") prompts.sync(adapter);
    if (event.t === "notice") host.session()?.ui.notify(event.text, event.level);
    else onChange();
  });
}
