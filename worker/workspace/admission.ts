/** Which agent may have the workspace. Pure; docs/spec/wire.md WP2, WP19, WP20. */
import { negotiate } from "../../shared/wire/version.ts";
import type { ByeFrame, Hello } from "../../shared/wire/frames.ts";

export interface Holder {
  readonly instance: string;
  readonly host: string;
  readonly hostName: string;
  /** Its last sign of life is younger than `LIMITS.pongAgeMs`. */
  readonly isAlive: boolean;
}

export type Admission =
  | { readonly admit: true; readonly version: number; readonly retires: { readonly instance: string; readonly bye: ByeFrame } | undefined }
  | { readonly admit: false; readonly bye: ByeFrame };

export function admit(
  hello: Pick<Hello, "versions" | "instance" | "host" | "hostName" | "takeOver">,
  holder: Holder | undefined,
  isRetired: boolean,
): Admission {
  const version = negotiate(hello.versions);
  if (!version.ok) return refuse("version", VERSION_TEXT[version.reason]);
  if (isRetired) return refuse("retired", "A newer start of this agent has taken its place.");
  if (holder === undefined || holder.instance === hello.instance) return { admit: true, version: version.version, retires: undefined };
  if (holder.host !== hello.host && holder.isAlive && !hello.takeOver) {
    return refuse(
      "other_host",
      `The machine "${holder.hostName}" holds this workspace. Stop the agent there, or start this one with --take-over or another --workspace.`,
    );
  }
  return { admit: true, version: version.version, retires: { instance: holder.instance, bye: replacedBy(hello, holder) } };
}

/** What the one that gives way is told. */
function replacedBy(hello: Pick<Hello, "host" | "hostName">, holder: Holder): ByeFrame {
  const message =
    hello.host === holder.host
      ? "A newer start of the agent on this machine has taken its place."
      : `The machine "${hello.hostName}" has taken this workspace over. Start the agent here with --take-over to take it back.`;
  return { t: "bye", why: "replaced", message, comeBack: false };
}

const VERSION_TEXT = {
  agent_too_old: "This relay speaks a newer version of the link: update pi-relay on this machine.",
  relay_too_old: 'The relay speaks an older version of the link: update it with "npm run deploy".',
} as const;

function refuse(why: "version" | "retired" | "other_host", message: string): Admission {
  return { admit: false, bye: { t: "bye", why, message, comeBack: false } };
}
