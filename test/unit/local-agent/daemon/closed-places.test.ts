import { expect, test } from "vitest";
import { closedPlaces, programPlaces } from "../../../../local-agent/daemon/closed-places.ts";

const directories = { config: "/xdg/pimcp", state: "/s/pimcp" };
const around = { directories, mode: { kind: "stdio" }, home: "/h", env: {} } as const;

test("[CF18] the agent's own directories and Wrangler's login are closed, wherever XDG_CONFIG_HOME puts them", () => {
  expect(closedPlaces(around)).toEqual([
    "/xdg/pimcp",
    "/s/pimcp",
    "/xdg/.wrangler",
    "/h/.config/.wrangler",
    "/h/Library/Preferences/.wrangler",
    "/h/.wrangler",
  ]);
});

test("[CF18] a key file named on the command line is closed", () => {
  const mode = {
    kind: "relay",
    relay: null,
    workspace: null,
    keyFile: "/w/key",
    listen: { host: "::1", port: 0 },
    issuer: null,
    oauth: true,
    takeOver: false,
  } as const;
  expect(closedPlaces({ ...around, mode })).toContain("/w/key");
});

test("[CF20] the program's places are its package and every node_modules Node looks into for it", () => {
  expect(programPlaces("/home/me/node_modules/pi-relay")).toEqual([
    "/home/me/node_modules/pi-relay",
    "/home/me/node_modules/pi-relay/node_modules",
    "/home/me/node_modules",
    "/home/me/node_modules",
    "/home/node_modules",
    "/node_modules",
  ]);
});
