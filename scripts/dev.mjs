// `npm run dev [-- --ui-port PORT]`: the page from its sources, drawn anew as they change, over the running agent. The agent's own
// page stays as it is. The agent answers only its own page, so its address takes the place of this server's in what goes there.
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createServer } from "vite";
import { listAllClaims } from "../local-agent/daemon/agent-lock.ts";
import { findDirectories } from "../local-agent/daemon/config-dir.ts";
import { readPageAddress } from "../local-agent/daemon/page-file.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const wanted = wantedPort(process.argv.slice(2));
const address = runningPages().find(({ port }) => wanted === undefined || port === wanted);
if (address === undefined)
  fail(
    `${wanted === undefined ? "No agent with a page" : `No agent with a page on port ${wanted}`} is running on this machine: start one with npm start.`,
  );

const server = await createServer({
  configFile: join(root, "ui/vite.config.ts"),
  server: { host: "127.0.0.1", port: 5173, proxy: { "/api": { target: address.origin, changeOrigin: true, configure: rewriteOrigin } } },
});
await server.listen();
const own = new URL(server.resolvedUrls?.local[0] ?? "http://127.0.0.1:5173/");
process.stdout.write(
  `The page over the agent at ${address.origin}, from its sources. This address is a secret of yours:\n\n  ${own.origin}/${address.hash}\n\n`,
);

/** Only of what this server's own page sends: a foreign origin stays foreign, and is refused by the agent. */
function rewriteOrigin(proxy) {
  proxy.on("proxyReq", (request) => {
    if (request.getHeader("origin") === own.origin) request.setHeader("origin", address.origin);
  });
}

function wantedPort(args) {
  if (args.length === 0) return undefined;
  const value = args.join("=").match(/^--ui-port=(\d{1,5})$/)?.[1];
  return value ?? fail("Expected nothing, or --ui-port and the port of the running agent's page.");
}

/** Of all agents of this account, by the private files that lead to their pages. */
function runningPages() {
  const files = listAllClaims(findDirectories(process.env, homedir()).state).flatMap(({ pageFile }) => (pageFile === null ? [] : [pageFile]));
  return files.flatMap((file) => {
    const found = readPageAddress(file);
    return found === undefined ? [] : [new URL(found)];
  });
}

function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(2);
}
