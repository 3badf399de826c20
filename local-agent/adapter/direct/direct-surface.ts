/** The direct tools a host has registered, and when they may change. */
import type { DirectTool } from "../adapter.ts";
import type { CatalogEntry } from "../catalog/upstream-catalog.ts";
import { directTool } from "./direct-tool.ts";

export interface DirectSurface {
  tools(): readonly DirectTool[];
  /**
   * What a server offers may have changed. True when the tools did.
   * @param why `asked`: somebody asked for this server to be listed anew; `news`: the server, or a connection, said so
   */
  update(server: string, why: "asked" | "news"): boolean;
}

/** @param select which tools are direct now, and whether they are shown before a search found them */
export function createDirectSurface(options: {
  readonly isFrozen: boolean;
  readonly select: () => readonly { readonly entry: CatalogEntry; readonly shown: boolean }[];
}): DirectSurface {
  let tools = selected();
  const settled = new Set(tools.map(({ entry }) => entry.server));

  return {
    tools: () => tools,
    update(server, why) {
      // [CL87] A server that had no list yet is let in once; after that the prompt cache of the model counts for more.
      if (options.isFrozen && why === "news" && settled.has(server)) return false;
      const now = selected();
      const changed = options.isFrozen
        ? [...tools.filter(({ entry }) => entry.server !== server), ...now.filter(({ entry }) => entry.server === server)]
        : now;
      for (const { entry } of changed) settled.add(entry.server);
      const looksDifferent = bytesOf(changed) !== bytesOf(tools);
      // Also one that looks the same: a name may stand for another server's tool now.
      tools = changed;
      return looksDifferent;
    },
  };

  function selected(): readonly DirectTool[] {
    return options.select().map(({ entry, shown }) => directTool(entry, shown));
  }
}

function bytesOf(tools: readonly DirectTool[]): string {
  return JSON.stringify(tools.map(({ entry: _entry, ...offered }) => offered));
}
