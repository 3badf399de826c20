/**
 * What extensions show a model, or what a call through them costs: `tokens|calls` and then paths of extensions. Runs in a home whose
 * servers are configured and cached. Prints one line of JSON, by extension.
 */
import { Client, type Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { silentLog } from "../../local-agent/node/log-sinks.ts";
import { systemClock, systemTimers } from "../../local-agent/node/system-time.ts";
import { createUpstreamTransports } from "../../local-agent/node/upstream-transports.ts";
import { serverDefinition } from "../support/server-definitions.ts";
import { fixtureEntry } from "../support/upstream-files.ts";
import { medians, type Subject } from "./measure.ts";
import { playPi, type PlayedPi } from "./played-pi.ts";

/** Until the code of all is compiled. */
const WARM_UP = 1_500;
const ARGS = { text: "a line of text" };

const [what = "", ...paths] = process.argv.slice(2);
console.log(JSON.stringify(what === "tokens" ? await tokens() : await calls()));
process.exit(0);

async function tokens(): Promise<Record<string, Record<string, number>>> {
  const shown: Record<string, Record<string, number>> = {};
  for (const path of paths) {
    const pi = await start(path);
    await pi.call("mcp", {});
    const tools = [...pi.tools.values()].map(({ name, description, parameters }) => ({ name, description, inputSchema: parameters }));
    shown[path] = Object.fromEntries(tools.map((tool) => [tool.name, encode(JSON.stringify(tool), { allowedSpecial: "all" }).length]));
    await pi.end();
  }
  return shown;
}

/**
 * The same tool of the same program, which each subject has a process of. Ours runs it in a process group of its own, which a busy
 * machine schedules otherwise: so the SDK's client is measured over that transport as well.
 */
async function calls(): Promise<Record<string, number>> {
  const { command = "", args = [] } = fixtureEntry("good");
  const subjects: Subject[] = [await clientOver("SDK client", new StdioClientTransport({ command, args: [...args] }))];
  const opened = await transports().open(programOf(command, args), { signal: new AbortController().signal, wire: "streamable-http" });
  if (!opened.ok) throw new Error(opened.error.message);
  subjects.push(await clientOver("SDK client, own process group", opened.value.transport));
  for (const path of paths) {
    const pi = await start(path);
    await pi.call("mcp", { connect: "good" });
    subjects.push({ name: path, once: () => callEcho(pi) });
  }
  for (const { once } of subjects) for (let n = 0; n < WARM_UP; n++) await once();
  return Object.fromEntries(await medians(subjects, 20, 60));
}

async function clientOver(name: string, transport: Transport): Promise<Subject> {
  const client = new Client({ name: "bench", version: "1" });
  await client.connect(transport);
  return { name, once: async () => void (await client.callTool({ name: "echo", arguments: ARGS })) };
}

function programOf(command: string, args: readonly string[]) {
  return serverDefinition("good", { transport: { kind: "stdio", command, args, env: {}, cwd: null, inheritEnv: true, plugin: null } });
}

function transports() {
  const { env } = process;
  const host = { env, home: process.cwd(), cwd: process.cwd(), clock: systemClock, timers: systemTimers, log: silentLog };
  return createUpstreamTransports({ ...host, newId: () => crypto.randomUUID() });
}

async function callEcho(pi: PlayedPi): Promise<void> {
  const answer = await pi.call("mcp", { tool: "good_echo", args: ARGS });
  if (answer.content[0]?.text !== ARGS.text) throw new Error(`echo answered ${JSON.stringify(answer)}`);
}

async function start(path: string): Promise<PlayedPi> {
  const { default: install } = (await import(path)) as { default: (pi: never) => unknown };
  return playPi(install, process.cwd());
}
