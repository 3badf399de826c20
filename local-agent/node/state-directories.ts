/** Where the program keeps what outlives a run; other programs of this account look there, too. */
import { isAbsolute, join } from "node:path";

/**
 * `config` is what a person would back up, `state` what can be made again. Makes neither. XDG Base Directory: a relative variable is
 * invalid and ignored.
 */
export function findDirectories(
  env: Readonly<Record<string, string | undefined>>,
  home: string,
): { readonly config: string; readonly state: string } {
  const base = (variable: string, fallback: string): string => {
    const value = env[variable] ?? "";
    return join(isAbsolute(value) ? value : join(home, fallback), "pimcp");
  };
  return { config: base("XDG_CONFIG_HOME", ".config"), state: base("XDG_STATE_HOME", join(".local", "state")) };
}
