/** The clients that called lately, latest first. */
import type { SeenClient } from "../../shared/desk.ts";
import type { HumanClient } from "../../shared/human/entry.ts";

const MAX_CLIENTS = 50;
const MAX_NAME_CHARS = 200;

export interface SeenClients {
  /** Whether the list reads differently now: another order, another name. */
  saw(client: HumanClient, at: number): boolean;
  list(): SeenClient[];
}

export function createSeenClients(): SeenClients {
  let clients: SeenClient[] = [];
  return {
    saw({ principalId, name }, at) {
      const before = clients;
      const known = clients.find((client) => client.principalId === principalId);
      if (known !== undefined && known.lastAt > at) return false; // Told from older history.
      const seen = { principalId, name: name.slice(0, MAX_NAME_CHARS), lastAt: at };
      clients = [seen, ...clients.filter((client) => client !== known)].toSorted((a, b) => b.lastAt - a.lastAt).slice(0, MAX_CLIENTS);
      return appearance(clients) !== appearance(before);
    },
    list: () => [...clients],
  };
}

function appearance(clients: readonly SeenClient[]): string {
  return JSON.stringify(clients.map(({ principalId, name }) => [principalId, name]));
}
