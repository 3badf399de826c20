/** From a stdio definition to a transport: every value filled in, npx resolved, nothing started yet. */
import { mkdir, stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { ServerDefinition, StdioServer } from "../adapter/config/server-definition.ts";
import { filledIn, pathOf, secretTable, UnusableValue, type ValueHost } from "./configured-values.ts";
import type { NpxResolver } from "./npx-resolver.ts";
import { StdioTransport } from "./stdio-transport.ts";
import { upstreamEnvironment } from "./upstream-environment.ts";

export interface StdioOpener extends ValueHost {
  readonly npx: NpxResolver;
  /** Where npm works for servers that no project file touches (npx-resolver.ts); null: in the project. */
  readonly packagesApart: string | null;
  readonly showErrorOutput: ((server: string, text: string) => void) | undefined;
}

/** Throws `UnusableValue`. */
export async function openStdio(definition: ServerDefinition, server: StdioServer, host: StdioOpener, signal: AbortSignal): Promise<StdioTransport> {
  const values = server.plugin === null ? await ordinaryValues(server, host, signal) : pluginValues(server, server.plugin);
  if (server.plugin !== null) await makeDataDirectory(server.plugin.data);
  const cwd = workingDirectory(server, host);
  const env = { ...upstreamEnvironment(host.env, server.inheritEnv ? "whole" : "default", host.platform), ...values.env };
  // What a project's file asks for was shown to the person as the project's; there its own packages are meant.
  const apart = definition.projectText === null ? host.packagesApart : null;
  const isDirectory = (await stat(cwd).catch(() => null))?.isDirectory() === true;
  const program = isDirectory ? await host.npx.resolve(values, { env, cwd, signal, apart }) : values;
  const show = definition.debug ? host.showErrorOutput : undefined;
  return new StdioTransport(
    { command: program.command, args: program.args, env, cwd },
    { ...host, ...(show !== undefined && { onErrorOutput: (chunk: Buffer) => show(definition.name, chunk.toString("utf8")) }) },
  );
}

interface Values {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

async function ordinaryValues(server: StdioServer, host: ValueHost, signal: AbortSignal): Promise<Values> {
  return {
    command: pathOf(server.command, host),
    args: server.args.map((arg) => filledIn(arg, host)),
    env: await secretTable(server.env, "env", host, signal),
  };
}

/** A plugin may write there, and run there, from its first start on. */
async function makeDataDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new UnusableValue(`The directory for the plugin's data could not be made: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Of an Agent Plugin only its two places are filled in, once; everything else is literal. */
function pluginValues(server: StdioServer, { root, data }: { readonly root: string; readonly data: string }): Values {
  const fill = (text: string): string => filledPlaces(text, { root, data });
  const { command } = server;
  return {
    command: /^\.[/\\]/.test(command) ? resolve(root, command) : command,
    args: server.args.map(fill),
    env: { ...Object.fromEntries(Object.entries(server.env).map(([name, value]) => [name, fill(value)])), PLUGIN_ROOT: root, PLUGIN_DATA: data },
  };
}

/** Where a server runs. Throws `UnusableValue`. */
export function workingDirectory(server: StdioServer, host: Pick<ValueHost, "cwd" | "env" | "home">): string {
  const { cwd, plugin } = server;
  if (cwd === null) return resolve(host.cwd);
  return plugin === null ? resolve(host.cwd, pathOf(cwd, host)) : resolve(plugin.root, filledPlaces(cwd, plugin));
}

function filledPlaces(text: string, { root, data }: { readonly root: string; readonly data: string }): string {
  return text.replaceAll(/\$\{PLUGIN_(ROOT|DATA)\}/g, (_whole, which: string) => (which === "ROOT" ? root : data));
}
