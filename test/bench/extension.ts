/**
 * What MCP servers behind one tool cost in Pi, with the extension as it is built: tokens of what a model is shown, a call over pipes
 * beside one of the SDK's client, and a fresh process until the first answer. Beside the published pi-mcp-adapter where that is
 * installed. Each in processes of its own, with a home of its own.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { configHash } from "../../local-agent/adapter/catalog/config-hash.ts";
import type { UpstreamCatalog } from "../../local-agent/adapter/catalog/upstream-catalog.ts";
import { agentDirectory } from "../../local-agent/node/agent-directory.ts";
import { createConfigFiles } from "../../local-agent/node/config-files.ts";
import { silentLog } from "../../local-agent/node/log-sinks.ts";
import { createMetadataFile } from "../../local-agent/node/metadata-file.ts";
import { TEN_SERVERS } from "../fixtures/adapter/ten-servers.ts";
import { labelledTools } from "../support/search-set.ts";
import { fixtureEntry, mcpJson, type ServerEntry } from "../support/upstream-files.ts";
import { median } from "./measure.ts";
import { bundlePublished } from "./published-adapter.ts";

export interface ExtensionCosts {
  /** By extension: tokens (o200k) of each tool with ten servers. */
  readonly tokens: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** Median milliseconds of a call of the same tool of the same program. */
  readonly callMs: ReadonlyMap<string, number>;
  /** Median milliseconds of a process with 20 known servers until the first answer; `node` is what passed before the extension was loaded. */
  readonly startMs: ReadonlyMap<string, number>;
  /** Of that, the processor's time: other work on the machine counts less. */
  readonly startCpuMs: ReadonlyMap<string, number>;
}

interface Guidance {
  readonly name: string;
  readonly instructions: string | null;
}

const EXTENSION = join(import.meta.dirname, "../../dist/pi-extension.mjs");
const STARTS = 15;
const TWENTY: readonly Guidance[] = Array.from({ length: 20 }, (_, n) => ({ name: `server-${n}`, instructions: null }));
const run = promisify(execFile);

export async function measureExtension(): Promise<ExtensionCosts> {
  const dir = await mkdtemp(join(tmpdir(), "pimcp-bench-extension-"));
  try {
    const published = await bundlePublished(join(dir, "published"));
    const extensions = new Map([["ours", EXTENSION], ...(published === null ? [] : [["published", published] as const])]);
    const urls = new Map([...extensions].map(([name, path]) => [name, pathToFileURL(path).href]));
    const named = <T>(of: Readonly<Record<string, T>>) =>
      new Map(Object.entries(of).map(([key, value]) => [[...urls].find(([, url]) => url === key)?.[0] ?? key, value] as const));
    const ten = await homeWith(join(dir, "ten"), TEN_SERVERS);
    const one = await homeWith(join(dir, "one"), [{ name: "good", instructions: null }], fixtureEntry("good"));
    const use = (home: string, what: string) => inHome(home, ["test/bench/extension-use.ts", what, ...urls.values()]);
    const starts = await measureStarts(dir, urls);
    const tokens = named((await use(ten, "tokens")) as Record<string, Record<string, number>>);
    return {
      ...starts,
      tokens: new Map([...tokens].map(([name, of]) => [name, new Map(Object.entries(of))])),
      callMs: named((await use(one, "calls")) as Record<string, number>),
    };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

interface Start {
  readonly ms: number;
  readonly cpuMs: number;
}

async function measureStarts(dir: string, urls: ReadonlyMap<string, string>): Promise<Pick<ExtensionCosts, "startMs" | "startCpuMs">> {
  const entry = join(import.meta.dirname, "extension-start.ts");
  // Built, so that reading TypeScript takes no part of the time.
  const outfile = join(dir, "start.mjs");
  await build({ entryPoints: [entry], bundle: true, platform: "node", format: "esm", outfile, logLevel: "error" });
  const home = await homeWith(join(dir, "twenty"), TWENTY);
  const times = new Map<string, Start[]>();
  for (let round = -1; round < STARTS; round++) {
    for (const [name, url] of urls) {
      const { answer, node } = (await inHome(home, [outfile, url, String(TWENTY.length)])) as { answer: Start; node: Start };
      if (round < 0) continue; // Warming up.
      times.set(name, [...(times.get(name) ?? []), answer]);
      times.set("node", [...(times.get("node") ?? []), node]);
    }
  }
  const medianOf = (value: (start: Start) => number) => new Map([...times].map(([name, list]) => [name, median(list.map(value))]));
  return { startMs: medianOf(({ ms }) => ms), startCpuMs: medianOf(({ cpuMs }) => cpuMs) };
}

/** A person whose own file configures these servers, which were all listed a moment ago. */
async function homeWith(home: string, servers: readonly Guidance[], entry: ServerEntry = { command: "never-started" }): Promise<string> {
  await mkdir(join(home, ".config/mcp"), { recursive: true });
  await writeFile(join(home, ".config/mcp/mcp.json"), mcpJson(Object.fromEntries(servers.map(({ name }) => [name, entry]))));
  const agentDir = agentDirectory({}, home);
  await mkdir(agentDir, { recursive: true });
  const store = createMetadataFile({ path: join(agentDir, "mcp-cache.json"), log: silentLog });
  const files = createConfigFiles({ cwd: home, home, env: {}, platform: process.platform, trustsProjectSettings: () => true });
  const config = await files.load();
  const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
  const tools = labelledTools();
  for (const [n, { name, instructions }] of servers.entries()) {
    const configured = config.servers.get(name);
    if (configured?.state !== "enabled") throw new Error(`${name} is not configured`);
    const own = tools.filter((_, index) => index % servers.length === n).map(toolOf);
    await store.write(name, { configHash: configHash(configured.definition, { env: {}, home, sha256 }), catalog: catalogOf(own, instructions) });
  }
  return home;
}

function toolOf({ original, description, inputSchema }: ReturnType<typeof labelledTools>[number]): UpstreamCatalog["tools"][number] {
  return { name: original, description, inputSchema: { ...inputSchema, type: "object" } };
}

function catalogOf(tools: UpstreamCatalog["tools"], instructions: string | null): UpstreamCatalog {
  return { tools, resources: [], prompts: [], instructions, ttlMs: null, cacheScope: null, listedAt: Date.now() };
}

/** The one line of JSON that the program prints. */
async function inHome(home: string, args: readonly string[]): Promise<unknown> {
  const [program = "", ...rest] = args;
  const path = join(import.meta.dirname, "../..", program);
  const env = { PATH: process.env["PATH"], HOME: home, USERPROFILE: home };
  const { stdout } = await run(process.execPath, ["--disable-warning=ExperimentalWarning", program.endsWith(".mjs") ? program : path, ...rest], {
    cwd: home,
    env,
  });
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
}
