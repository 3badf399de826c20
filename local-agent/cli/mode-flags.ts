/**
 * Which flags mean something to which way of starting (ST5). Pure. A flag without a meaning is a mistake of this very
 * command and refuses the start; a variable may have been set for another one, so it is set aside and said (ST6).
 */
import { err, ok, type Result } from "../../shared/result.ts";
import type { FlagName } from "./flags.ts";
import type { GivenFlags } from "./given-flags.ts";

/** How MCP comes in, and how the person said so: `--stdio`, `PI_AS_MCP_HTTP`; null when it follows from nothing they said. */
export type Situation = Carrier & {
  /** Whether clients can talk with the person (`--human`). */
  readonly human: boolean;
};

export type Carrier =
  | { readonly kind: "stdio"; readonly as: string }
  | { readonly kind: "http"; readonly as: string }
  | {
      /** The embedded relay, or one that is dialled. */
      readonly kind: "embedded" | "dialled";
      readonly as: string | null;
      /** What switched OAuth off, and the page unless clients can talk with the person. */
      readonly noOauthAs: string | null;
    };

interface Misfit {
  readonly names: readonly FlagName[];
  /** Follows the flag's name. */
  readonly why: string;
  readonly wayOut: string;
}

/** The flags that fit, with one notice for each variable that does not; or one sentence about the first flag that does not. */
export function keepFitting(
  given: GivenFlags,
  situation: Situation,
): Result<{ readonly given: GivenFlags; readonly notices: readonly string[] }, string> {
  const kept = new Map(given);
  const notices: string[] = [];
  for (const { names, why, wayOut } of misfitsOf(situation)) {
    for (const name of names) {
      const flag = given.get(name);
      if (flag === undefined) continue;
      if (flag.by === "flag") return err(`${flag.as} ${why}: ${wayOut}.`);
      kept.delete(name);
      if (flag.values.at(-1) !== "off") notices.push(`${flag.as} ${why}, so it is ignored.`);
    }
  }
  return ok({ given: kept, notices });
}

const OF_THE_PAGE: readonly FlagName[] = ["ui-port", "ui-host", "ui-token", "no-open"];
const OF_THE_EMBEDDED: readonly FlagName[] = ["port", "host"];
const OF_OAUTH: readonly FlagName[] = ["oauth-redirect", "oauth-client-id", "oauth-client-secret"];
const OF_A_DEPLOYED: readonly FlagName[] = ["key-file", "take-over"];
const NOT_OVER_STDIO: readonly FlagName[] = ["relay", "workspace", "issuer", "allow-origin", "token", "oauth", "no-oauth", "json"];

const LEAVE_ONE = "leave one out";

function misfitsOf(situation: Situation): readonly Misfit[] {
  return [...ofCarrier(situation), ...(situation.human ? [] : withoutHuman(situation))];
}

function ofCarrier(situation: Carrier): readonly Misfit[] {
  switch (situation.kind) {
    case "stdio": {
      const why = `has no meaning with ${situation.as}`;
      return [{ names: [...NOT_OVER_STDIO, ...OF_OAUTH, ...OF_A_DEPLOYED, ...OF_THE_EMBEDDED], why, wayOut: LEAVE_ONE }];
    }
    // `--issuer` is kept: it is the name by which a proxy in front is reached.
    case "http":
      return [{ names: ["workspace", ...OF_OAUTH, ...OF_A_DEPLOYED], why: `has no meaning with ${situation.as}`, wayOut: LEAVE_ONE }];
    case "embedded":
      return [
        situation.as === null
          ? { names: OF_A_DEPLOYED, why: "goes with a deployed relay, and none is configured", wayOut: "add --relay https://…, or leave it out" }
          : { names: OF_A_DEPLOYED, why: `goes with a deployed relay, and ${situation.as} is the one of this machine`, wayOut: LEAVE_ONE },
        ...withoutOauth(situation.noOauthAs),
      ];
    case "dialled":
      return [
        situation.as === null
          ? { names: OF_THE_EMBEDDED, why: "is for the local relay, and the deployed one is dialled", wayOut: "add --relay local, or leave it out" }
          : { names: OF_THE_EMBEDDED, why: `is for the local relay, and ${situation.as} dials another`, wayOut: LEAVE_ONE },
        ...withoutOauth(situation.noOauthAs),
      ];
  }
}

function withoutOauth(as: string | null): readonly Misfit[] {
  if (as === null) return [];
  return [
    { names: ["issuer"], why: `names the OAuth issuer, which ${as} switches off`, wayOut: LEAVE_ONE },
    { names: OF_OAUTH, why: `is for OAuth, which ${as} switches off`, wayOut: LEAVE_ONE },
  ];
}

/** `--approve` is not among them: it asks for a gate, and is refused by flag and by variable alike (ST81). */
function withoutHuman(situation: Carrier): readonly Misfit[] {
  return [...ofNoPage(situation), { names: ["block-ms", "audit-full"], why: "goes with --human", wayOut: "add --human, or leave it out" }];
}

function ofNoPage(situation: Carrier): readonly Misfit[] {
  if (situation.kind === "stdio" || situation.kind === "http")
    return [{ names: OF_THE_PAGE, why: `is for the page, which ${situation.as} has with --human only`, wayOut: "add --human, or leave one out" }];
  if (situation.noOauthAs === null) return [];
  const why = `is for the page, which ${situation.noOauthAs} switches off where --human is not given`;
  return [{ names: OF_THE_PAGE, why, wayOut: "add --human, or leave one out" }];
}
