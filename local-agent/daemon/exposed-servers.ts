/** `--expose`: MCP servers of the workstation that clients see as they are (docs/spec/pass-through.md). */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Adapter } from "../adapter/adapter.ts";
import type { PersonForms } from "../adapter/ports.ts";
import type { ElicitRequestFormParams } from "@modelcontextprotocol/client";
import type { Passage, PassageForms } from "../mcp/pass-through/passage.ts";
import { RESERVED_TOOLS } from "../mcp/server.ts";
import { didYouMean } from "../../shared/nearest.ts";
import { readPrivateFile, writePrivateFile } from "./config-dir.ts";
import { StartFailure } from "./start-failure.ts";

/** In the state directory: what clients bring back stays good when the agent restarts. */
const KEY_FILE = "pass-through-key";
const KEY_BYTES = 32;

export interface ExposureParts {
  readonly adapter: Adapter;
  /** As the person gave it. */
  readonly wanted: readonly string[] | "all";
  /** Private and existing. */
  readonly stateDir: string;
  /** Null where nobody can be asked. */
  readonly forms: PersonForms | null;
}

/** Null: nothing is exposed. Throws `StartFailure` for a server that is not configured. */
export function exposeServers({ adapter, wanted, stateDir, forms }: ExposureParts): Passage | null {
  const upstreams = exposedNames(adapter, wanted);
  if (upstreams.length === 0) return null;
  const { passage } = adapter;
  return {
    upstreams,
    key: signingKey(stateDir),
    reserved: RESERVED_TOOLS,
    open: (server, options) => passage.open(server, options),
    admits: (server, tool) => passage.admits(server, tool),
    displayed: (server, original) => passage.displayed(server, original),
    async beforeCall({ upstream, principalId, client, probe, signal, ...call }) {
      const caller = { kind: "remote", principalId, client, probe } as const;
      const allowed = await passage.approve({ ...call, server: upstream, caller, signal: signal as AbortSignal });
      return allowed.ok ? { allowed: true } : { allowed: false, text: allowed.error.message };
    },
    forms: forms === null ? null : passageForms(forms),
  };
}

function passageForms(forms: PersonForms): PassageForms {
  return {
    ask({ upstream, params, principalId, client, signal }) {
      const caller = { kind: "remote", principalId, client, probe: () => {} } as const;
      return forms.ask({ server: upstream, params: params as unknown as ElicitRequestFormParams, caller, signal });
    },
  };
}

function exposedNames({ pool }: Adapter, wanted: readonly string[] | "all"): readonly string[] {
  const known = pool.servers();
  if (wanted === "all") return known.filter((name) => !["disabled", "invalid"].includes(pool.state(name).at));
  const unknown = wanted.find((name) => !known.includes(name));
  if (unknown === undefined) return wanted;
  const all = known.length === 0 ? "none is configured" : `there are: ${known.join(", ")}`;
  throw new StartFailure(
    `--expose names ${JSON.stringify(unknown)}, which is no MCP server of this workstation.${didYouMean(unknown, known)} Of those ${all}.`,
  );
}

function signingKey(stateDir: string): Uint8Array {
  const path = join(stateDir, KEY_FILE);
  const kept = Buffer.from(readPrivateFile(path)?.trim() ?? "", "base64");
  if (kept.length === KEY_BYTES) return kept;
  const made = randomBytes(KEY_BYTES);
  writePrivateFile(path, `${made.toString("base64")}\n`);
  return made;
}
