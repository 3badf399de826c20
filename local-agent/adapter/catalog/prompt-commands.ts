/** The prompts of upstreams as slash commands (docs/spec/upstream-catalog.md). Pure. */
import { visibleLine } from "../../../shared/visible-text.ts";
import type { PromptCommand } from "../adapter.ts";
import type { ToolPrefix } from "../config/server-definition.ts";
import type { CatalogSource, CatalogWarning } from "./entries.ts";
import { promptCommand } from "./names.ts";
import type { UpstreamPrompt } from "./upstream-catalog.ts";

/** Longer ones are no names but attacks on whoever shows them. */
const MAX_NAME = 256;

export interface PromptCommands {
  readonly commands: readonly PromptCommand[];
  readonly warnings: readonly CatalogWarning[];
}

/**
 * One command for each prompt, in the order they were listed. Of two servers that get one command with short names both get the long one;
 * what is still the same then is left out with a warning, because the person could not know which of them runs.
 */
export function promptCommands(sources: readonly CatalogSource[]): PromptCommands {
  const warnings: CatalogWarning[] = [];
  const offered = sources.flatMap(offers);
  const short = Map.groupBy(offered, (offer) => commandOf(offer, offer.prefix));
  const isShared = (offer: Offer) => new Set(short.get(commandOf(offer, offer.prefix))?.map(({ server }) => server)).size > 1;
  const named = Map.groupBy(offered, (offer) => commandOf(offer, isShared(offer) ? "server" : offer.prefix));
  const commands = [...named].flatMap(([command, claimants]): PromptCommand[] => {
    const [first, ...others] = claimants;
    if (first === undefined) return [];
    const { server, prompt } = first;
    // Listed twice is the same prompt.
    if (others.every((other) => other.server === server && other.prompt.name === prompt.name)) return [{ command, server, prompt }];
    warnings.push({ server, message: `${claimants.length} prompts are left out, because all of them would be "/${visibleLine(command, 100)}".` });
    return [];
  });
  return { commands, warnings };
}

interface Offer {
  readonly server: string;
  readonly prefix: ToolPrefix;
  readonly prompt: UpstreamPrompt;
}

function offers({ definition: { name: server, toolPrefix: prefix }, held }: CatalogSource): Offer[] {
  const prompts = held?.catalog.prompts ?? [];
  return prompts.filter(({ name }) => name !== "" && name.length <= MAX_NAME).map((prompt) => ({ server, prefix, prompt }));
}

function commandOf({ server, prompt }: Offer, prefix: ToolPrefix): string {
  return promptCommand(prompt.name, server, prefix);
}
