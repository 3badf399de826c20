/** What a program takes for the person's browser: a script that writes the address down, so that a test can open it in its own. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Home } from "./pimcp.ts";

export interface BrowserShim {
  /** The environment of a program that may open a browser: knows of no desktop and of no browser but the script. */
  readonly env: Record<string, string>;
  /** Every address so far, in order. */
  readonly opened: () => string[];
}

const DESKTOP = /^(DISPLAY|WAYLAND_|XDG_CURRENT_DESKTOP|XDG_SESSION_|DESKTOP_SESSION|KDE_|GNOME_|DBUS_)/;

/** In a folder `name` of this home. */
export function browserShim(home: Home, name: string): BrowserShim {
  const dir = join(home.dir, name);
  const log = join(dir, "opened.txt");
  const script = join(dir, "xdg-open");
  mkdirSync(dir, { recursive: true });
  writeFileSync(script, `#!/bin/sh\nprintf '%s\\n' "$1" >>'${log}'\n`, { mode: 0o755 });
  const inherited = Object.entries(home.env).filter(([key]) => !DESKTOP.test(key));
  return {
    env: {
      ...Object.fromEntries(inherited.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]))),
      PATH: `${dir}${delimiter}${home.env["PATH"] ?? ""}`,
      BROWSER: script,
    },
    opened: () => (existsSync(log) ? readFileSync(log, "utf8").split("\n").slice(0, -1) : []),
  };
}
