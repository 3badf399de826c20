import { expect, test } from "vitest";
import { closedPlaces, programPlaces } from "../../../../local-agent/daemon/closed-places.ts";

const directories = { config: "/xdg/pimcp", state: "/s/pimcp" };
const around = { directories, mode: { kind: "stdio" }, home: "/h", env: {} } as const;

test("[CF18] the agent's own directories and Wrangler's login are closed, wherever XDG_CONFIG_HOME puts them", () => {
  const own = ["/xdg/pimcp", "/s/pimcp", "/xdg/.wrangler", "/h/.config/.wrangler", "/h/Library/Preferences/.wrangler", "/h/.wrangler"];
  expect(closedPlaces(around).slice(0, own.length)).toEqual(own);
});

test("[CF30] Pi's own directory and the person's own files about MCP servers are closed, wherever they are", () => {
  const closed = closedPlaces({ ...around, env: { PI_CODING_AGENT_DIR: "/pi" }, mcpConfig: "/w/servers.json" });
  const places = [
    "/pi",
    "/h/.config/mcp/mcp.json",
    "/h/.agents/mcp.json",
    "/h/.agents/mcp/mcp.json",
    "/h/.cursor/mcp.json",
    "/w/servers.json",
    "/h/.npmrc",
    "/h/.npm/_npx",
  ];
  expect(closed).toEqual(expect.arrayContaining(places));
  expect(closedPlaces(around)).toContain("/h/.pi/agent");
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
