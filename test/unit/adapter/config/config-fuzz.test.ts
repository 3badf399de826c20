import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonValue } from "../../../../shared/json.ts";
import { readPluginManifest, readPluginServers } from "../../../../local-agent/adapter/config/agent-plugins.ts";
import { IMPORT_KINDS, readConfigDocument } from "../../../../local-agent/adapter/config/config-document.ts";
import { configReport } from "../../../../local-agent/adapter/config/config-report.ts";
import { readImported } from "../../../../local-agent/adapter/config/imports.ts";
import { mergeLayers, type ConfigLayer } from "../../../../local-agent/adapter/config/merge.ts";
import type { ConfiguredServer, ServerDefinition } from "../../../../local-agent/adapter/config/server-definition.ts";

const FIELDS = [
  "command",
  "url",
  "socket",
  "args",
  "env",
  "headers",
  "type",
  "cwd",
  "bearerToken",
  "oauth",
  "disabled",
  "approveTools",
  "idleTimeout",
  "directTools",
  "requestHeadersCommand",
];
const SETTINGS = ["approveTools", "outputGuard", "trace", "toolPrefix", "directTools", "idleTimeout", "agentPluginPaths", "collapsedResultLines"];
const ODD = ["__proto__", "constructor", "toString", "hasOwnProperty", ""];

/** What `JSON.parse` gives, `__proto__` as an own member included, with words that mean something here in most places. */
const json: fc.Arbitrary<JsonValue> = fc.json({ maxDepth: 3 }).map((text) => JSON.parse(text) as JsonValue);
const plausible = fc.constantFrom<JsonValue>("npx", "https://a.example/", true, false, null, ["a"], { A: "1" }, 5, "bearer", "sse", "", "mcp");
const value = fc.oneof({ weight: 3, arbitrary: plausible }, { weight: 1, arbitrary: json });
const record = (names: readonly string[], values: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonValue> =>
  fc
    .array(fc.tuple(fc.constantFrom(...names, ...ODD), values), { maxLength: 5 })
    .map((members) => JSON.parse(`{${members.map(([name, member]) => `${JSON.stringify(name)}:${JSON.stringify(member)}`).join(",")}}`) as JsonValue);
const entries = record(["x", "y"], fc.oneof({ weight: 4, arbitrary: record(FIELDS, value) }, { weight: 1, arbitrary: json }));
const content = fc.oneof(
  { weight: 1, arbitrary: json },
  {
    weight: 5,
    arbitrary: fc.record({ mcpServers: entries, settings: fc.oneof(record(SETTINGS, value), json), imports: fc.oneof(fc.constant([]), json) }),
  },
);

function layerOf(document: ConfigLayer["document"], inProject: boolean): ConfigLayer {
  return { origin: { layer: inProject ? "project" : "user", file: inProject ? "/p" : "/u" }, inProject, document, plugin: null };
}

/** What whoever uses a definition may rely on. */
function flawsOf(server: ConfiguredServer): readonly string[] {
  if (server.state === "invalid") return server.problem === "" ? ["no problem named"] : [];
  const { transport, entry, origins, idleTimeoutMs, requestTimeoutMs } = server.definition;
  const texts =
    transport.kind === "stdio"
      ? [...transport.args, ...Object.values(transport.env)]
      : transport.kind === "http"
        ? Object.values(transport.headers)
        : [];
  const times = [idleTimeoutMs, requestTimeoutMs].filter((ms) => ms !== null);
  return [
    ...(Object.keys(entry).every((field) => Object.hasOwn(origins, field)) ? [] : ["a field without an origin"]),
    ...(times.every((ms) => Number.isInteger(ms) && ms > 0) ? [] : ["a time no timer can hold"]),
    ...(texts.every((text) => typeof text === "string") ? [] : ["a text that is none"]),
  ];
}

test("[UC6] whatever files hold, a configuration comes of them, and each server in it is sound", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(content, fc.boolean()), { maxLength: 3 }),
      fc.constantFrom("use" as const, "ignore" as const),
      (files, projectSettings) => {
        const layers = files.map(([text, inProject]) => layerOf(readConfigDocument(text), inProject));
        const config = mergeLayers(layers, { env: {}, project: "/p", projectSettings, warnings: [], sources: [] });
        expect([...config.servers.values()].flatMap(flawsOf)).toEqual([]);
        expect(() => JSON.stringify(configReport(config))).not.toThrow();
        expect(config.warnings.map(({ message }) => message)).not.toContain("");
      },
    ),
    { numRuns: 200 },
  );
});

/** A relative path lies in the project, whoever names it. */
function namesProgramByPath({ transport }: ServerDefinition): boolean {
  const program = transport.kind === "stdio" ? transport.command : transport.kind === "http" ? transport.requestHeadersCommand?.command : undefined;
  return program !== undefined && /[/\\]/.test(program);
}

test("[UC30] whatever files hold, a server that only the account's files name needs no trust, and one that the project changes does", () => {
  const config = (layers: readonly ConfigLayer[]) =>
    mergeLayers(layers, { env: {}, project: "/p", projectSettings: "use", warnings: [], sources: [] });
  fc.assert(
    fc.property(content, content, (account, project) => {
      const own = layerOf(readConfigDocument(account), false);
      const both = config([own, layerOf(readConfigDocument(project), true)]);
      const before = config([own]).servers;
      const asked = [...before.values()].filter(
        (server) => server.state !== "invalid" && server.definition.projectText !== null && !namesProgramByPath(server.definition),
      );
      expect(asked).toEqual([]);
      for (const server of both.servers.values()) {
        if (server.state === "invalid" || server.definition.projectText !== null) continue;
        // Nobody would be asked: then it is what the account configured, or switched off.
        const same = before.get(server.name);
        const { disabled: _, ...entry } = server.definition.entry;
        expect(same?.state === "invalid" ? undefined : same?.definition.entry).toMatchObject(entry);
        expect(server.state === "enabled" ? same?.state : "disabled").toBe(server.state);
      }
    }),
    { numRuns: 200 },
  );
});

test("[UC40] [UC51] whatever other hosts' files and plugins hold, reading them ends", () => {
  fc.assert(
    fc.property(fc.oneof(json, record(["mcpServers", "servers", "mcp", "mcp_servers", "$schema"], entries)), (text) => {
      const documents = IMPORT_KINDS.map((kind) => readImported(kind, [text, text], { project: "/p", home: "/h" }));
      documents.push(readPluginServers(text, { name: "p", places: { root: "/r", data: "/d" }, insideRoot: () => null }));
      expect(documents.map(({ settings, imports }) => [settings, imports])).toEqual(documents.map(() => [{}, []]));
      expect(() => readPluginManifest(text)).not.toThrow();
    }),
    { numRuns: 100 },
  );
});
