import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson, type JsonObject, type JsonValue } from "../../../../shared/json.ts";
import { readConfigDocument } from "../../../../local-agent/adapter/config/config-document.ts";
import { mergeLayers, type ConfigLayer } from "../../../../local-agent/adapter/config/merge.ts";
import type { ConfiguredServer, UpstreamConfig } from "../../../../local-agent/adapter/config/server-definition.ts";

type Place = "user" | "agent-dir" | "project";

function layer(place: Place, content: JsonValue, file = `/${place}.json`): ConfigLayer {
  return { origin: { layer: place, file }, inProject: place === "project", document: readConfigDocument(content), plugin: null };
}

function merge(layers: readonly ConfigLayer[], projectSettings: "use" | "ignore" = "use", env: Record<string, string> = {}): UpstreamConfig {
  return mergeLayers(layers, { env, project: "/srv/project", projectSettings, warnings: [], sources: [] });
}

function mergeOne(...entries: readonly (readonly [Place, JsonObject])[]): ConfiguredServer {
  return merge(entries.map(([place, entry], index) => layer(place, { mcpServers: { x: entry } }, `/${index}.json`))).servers.get("x")!;
}

function definition(server: ConfiguredServer) {
  if (server.state === "invalid") throw new Error(server.problem);
  return server.definition;
}

describe("servers of several layers", () => {
  test("[UC10] a stronger layer changes the fields it names and keeps the others", () => {
    const merged = definition(mergeOne(["user", { command: "npx", args: ["a"], lifecycle: "eager" }], ["project", { directTools: true }]));
    expect(merged).toMatchObject({ transport: { kind: "stdio", command: "npx", args: ["a"] }, lifecycle: "eager", directTools: true });
    expect(merged.entry).toEqual({ command: "npx", args: ["a"], lifecycle: "eager", directTools: true });
  });

  test("[UC35] a login with OAuth is said not to be possible yet, by the file that asks for it", () => {
    const url = "https://a.example/mcp";
    const warned = (...layers: readonly ConfigLayer[]) =>
      merge(layers).warnings.map(({ file, server, message }) => [file, server, message.split(":")[0]]);
    const asks = (fields: JsonObject) => layer("user", { mcpServers: { x: { url, ...fields } } });
    expect(warned(asks({}), layer("project", { mcpServers: { x: { auth: "oauth" } } }))).toEqual([
      ["/project.json", "x", '"auth" has no effect yet'],
    ]);
    expect(warned(asks({ oauth: { clientId: "c" } }))).toEqual([["/user.json", "x", '"oauth" has no effect yet']]);
    for (const fields of [{ oauth: false }, { auth: false, oauth: {} }, { auth: "bearer", oauth: {} }, { auth: "oauth", disabled: true }])
      expect(warned(asks(fields))).toEqual([]);
  });

  test("[UC10] null says nothing", () => {
    expect(definition(mergeOne(["user", { command: "a", cwd: "/x" }], ["project", { cwd: null }])).entry).toEqual({ command: "a", cwd: "/x" });
  });

  test("[UC10] settings are merged one by one", () => {
    const merged = merge([
      layer("user", { settings: { toolPrefix: "none", idleTimeout: 3 } }),
      layer("agent-dir", { settings: { toolPrefix: "mcp" } }),
      layer("user", { mcpServers: { x: { command: "a" } } }),
    ]);
    expect(merged.settings.toolPrefix).toBe("mcp");
    expect(definition(merged.servers.get("x")!).idleTimeoutMs).toBe(180_000);
  });

  test("[UC13] each field knows the file that set it", () => {
    const { origins } = definition(mergeOne(["user", { command: "npx", args: ["a"] }], ["project", { args: ["b"] }]));
    expect(origins).toEqual({ command: { layer: "user", file: "/0.json" }, args: { layer: "project", file: "/1.json" } });
  });

  test("servers are in the order of their first mention", () => {
    const merged = merge([layer("user", { mcpServers: { b: { command: "b" } } }), layer("project", { mcpServers: { a: { command: "a" }, b: {} } })]);
    expect([...merged.servers.keys()]).toEqual(["b", "a"]);
  });

  test.each([true, false, "true", 1])("[UC14] of %j only true disables", (disabled) => {
    const server = mergeOne(["user", { command: "a", disabled }]);
    expect(server.state).toBe(disabled === true ? "disabled" : "enabled");
    expect(definition(server).transport.kind).toBe("stdio");
  });
});

describe("a stronger layer with another address", () => {
  const secrets = {
    headers: { Authorization: "Bearer s3cret" },
    bearerToken: "s3cret",
    bearerTokenEnv: "S3CRET",
    bearerTokenStore: true,
    requestHeadersCommand: { command: "s3cret" },
    caFile: "/s3cret.pem",
    oauth: { clientSecret: "s3cret" },
  };

  test("[UC11] gets none of the secrets meant for the one before", () => {
    const moved = definition(
      mergeOne(["user", { url: "https://a.example/mcp", ...secrets, lifecycle: "eager" }], ["project", { url: "https://b.example" }]),
    );
    expect(moved.entry).toEqual({ url: "https://b.example", lifecycle: "eager" });
    expect(JSON.stringify(moved).toLowerCase()).not.toContain("s3cret");
  });

  test("[UC11] keeps them when the address is the same", () => {
    const kept = definition(
      mergeOne(["user", { url: "https://a.example/mcp", ...secrets }], ["project", { url: "https://a.example/mcp", debug: true }]),
    );
    expect(kept.entry).toEqual({ url: "https://a.example/mcp", ...secrets, debug: true });
  });

  test("[UC11] brings its own, and goes on forbidding OAuth", () => {
    const moved = definition(
      mergeOne(
        ["user", { url: "https://a.example/mcp", oauth: false, headers: { A: "1" } }],
        ["project", { url: "https://b.example", headers: { B: "2" } }],
      ),
    );
    expect(moved.entry).toEqual({ url: "https://b.example", oauth: false, headers: { B: "2" } });
  });

  test("[UC11] gets no secret on whatever way round, for any layers", () => {
    const url = fc.constantFrom("https://a.example/", "https://b.example/");
    const entry = fc.oneof(
      url.map((to): JsonObject => ({ url: to })),
      url.map((to): JsonObject => ({ url: to, headers: { For: to } })),
      fc.constantFrom<JsonObject>({ command: "c" }, { socket: "/s" }, { debug: true }, { disabled: true }),
    );
    fc.assert(
      fc.property(fc.array(entry, { minLength: 1, maxLength: 6 }), (entries) => {
        const server = mergeOne(...entries.map((each): [Place, JsonObject] => ["user", each]));
        if (server.state === "invalid" || server.definition.transport.kind !== "http") return;
        const { url: to, headers } = server.definition.transport;
        expect(headers["For"] ?? to).toBe(to);
      }),
    );
  });

  test("[UC11] a secret that was there before there was any address does not follow to the first one", () => {
    expect(definition(mergeOne(["user", { bearerToken: "s3cret" }], ["project", { url: "https://b.example" }])).entry).toEqual({
      url: "https://b.example",
    });
  });
});

describe("a stronger layer with another way", () => {
  const url = { type: "sse", url: "https://a.example/mcp", headers: { A: "1" }, auth: "bearer", bearerToken: "t", caFile: "/c" };
  const command = { type: "stdio", command: "c", args: ["1"], env: { A: "1" }, cwd: "/c", inheritEnv: false };

  test.each<[string, JsonObject, JsonObject]>([
    ["a command after a URL", url, { command: "d" }],
    ["a command after a socket", { socket: "/s" }, { command: "d" }],
    ["a URL after a command", command, { url: "https://b.example/" }],
    ["a URL after a socket", { socket: "/s" }, { url: "https://b.example/" }],
    ["a socket after a command", command, { socket: "/t" }],
    ["a socket after a URL", url, { socket: "/t" }],
  ])("[UC12] %s has nothing of it", (_what, before, after) => {
    expect(definition(mergeOne(["user", { ...before, debug: true }], ["user", after])).entry).toEqual({ debug: true, ...after });
  });

  test("[UC12] a command after a command keeps what it does not name", () => {
    expect(definition(mergeOne(["user", { command: "c", args: ["1"], env: { A: "1" } }], ["user", { command: "d" }])).entry).toEqual({
      command: "d",
      args: ["1"],
      env: { A: "1" },
    });
  });
});

describe("what a project's file touches", () => {
  const text = (...entries: readonly (readonly [Place, JsonObject])[]): string | null => definition(mergeOne(...entries)).projectText;
  const global = { command: "npx", args: ["a"] };

  test("[UC30] comes with the text of the whole entry and of where it runs", () => {
    expect(text(["user", global], ["project", { env: { A: "1" } }])).toBe(
      '{"entry":{"args":["a"],"command":"npx","env":{"A":"1"}},"project":"/srv/project"}',
    );
    expect(text(["user", global])).toBeNull();
    expect(text(["user", global], ["project", {}])).toBeNull();
  });

  test("[UC30] is another text for any other value, and the same for another order", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom("A", "B", "C"), fc.string()),
        fc.dictionary(fc.constantFrom("A", "B", "C"), fc.string()),
        (one, two) => {
          const turned = Object.fromEntries(Object.entries(one).toReversed());
          expect(text(["project", { ...global, env: one }])).toBe(text(["project", { env: turned, args: ["a"], command: "npx" }]));
          const isSame = canonicalJson(one) === canonicalJson(two);
          expect(text(["project", { ...global, env: one }]) === text(["project", { ...global, env: two }])).toBe(isSame);
        },
      ),
    );
  });

  test.each<[JsonObject, boolean]>([
    [{ command: "./serve" }, true],
    [{ command: "bin/serve" }, true],
    [{ command: "npx" }, false],
    [{ command: "/usr/bin/serve" }, false],
    [{ command: "~/bin/serve" }, false],
    [{ command: "~" }, false],
    [{ command: "${BIN}/serve" }, false],
    [{ command: "$env:BIN/serve" }, false],
    [{ command: "${UNSET:-./bin}/serve" }, true],
    [{ command: "${UNSET}bin/serve" }, true],
    [{ command: "${NEAR}" }, true],
    [{ command: "{env:NEAR}" }, true],
    [{ command: "$HOME/bin/serve" }, true],
    [{ command: "~me/bin/serve" }, true],
    [{ command: "./serve", cwd: "/opt/it" }, false],
    [{ command: "./serve", cwd: "${BIN}" }, false],
    [{ command: "./serve", cwd: "${NEAR}" }, true],
    [{ command: "./serve", cwd: "$HOME" }, true],
    [{ url: "https://a.example/mcp", requestHeadersCommand: { command: "$HOME/sign" } }, true],
    [{ url: "https://a.example/mcp", requestHeadersCommand: { command: "${BIN}/sign" } }, false],
  ])("[UC30] of the account's own %j: lies in the project is %s", (entry, expected) => {
    const env = { BIN: "/opt/bin", NEAR: "./near" };
    const server = merge([layer("user", { mcpServers: { x: entry } })], "use", env).servers.get("x")!;
    expect(definition(server).projectText !== null).toBe(expected);
  });

  test("[UC31] needs no trust when it only disables", () => {
    expect(text(["user", global], ["project", { disabled: true }])).toBeNull();
  });

  test("[UC31] needs trust when it enables what another file disables", () => {
    expect(text(["user", { ...global, disabled: true }], ["project", { disabled: false }])).not.toBeNull();
  });

  test("[UC31] asks nothing new when the project switches its own server off and on", () => {
    expect(text(["project", global], ["project", { disabled: true }])).toBe(text(["project", global]));
  });
});

describe("a project's settings", () => {
  const weakening = { approveTools: false, outputGuard: false, samplingAutoApprove: true, toolPrefix: "none", agentPluginPaths: ["./p"] };
  const layers = [layer("user", { settings: { approveTools: true } }), layer("project", { settings: { ...weakening, directTools: true } })];

  test("[UC32] are left out together while they are not trusted, and can be asked about", () => {
    const ignored = merge(layers, "ignore");
    expect(ignored.settings).toMatchObject({ approveTools: true, samplingAutoApprove: false, toolPrefix: "server" });
    expect(ignored.settings.outputGuard).not.toBeNull();
    expect(JSON.parse(ignored.projectSettingsText!)).toEqual({ project: "/srv/project", settings: weakening });
  });

  test("[UC32] count when they are trusted, under the same text", () => {
    const used = merge(layers, "use");
    expect(used.settings).toMatchObject({ approveTools: false, samplingAutoApprove: true, toolPrefix: "none", outputGuard: null });
    expect(used.projectSettingsText).toBe(merge(layers, "ignore").projectSettingsText);
  });

  test("[UC32] of a name nobody knows here need trust too", () => {
    expect(merge([layer("project", { settings: { newGuard: false } })]).projectSettingsText).not.toBeNull();
  });

  test("[UC34] that are as strict as can be need no trust", () => {
    const strictest = { approveTools: true, scriptMode: false, sampling: false, samplingAutoApprove: false, elicitation: false, autoAuth: false };
    const merged = merge([layer("user", { settings: { approveTools: ["a_*"] } }), layer("project", { settings: strictest })], "ignore");
    expect(merged.projectSettingsText).toBeNull();
    expect(merged.settings).toMatchObject(strictest);
  });

  test.each<[JsonValue, JsonValue]>([
    [false, ["b_*"]],
    [["a_*"], ["a_*", "b_*"]],
    [true, true],
  ])("[UC34] that want calls asked about get that besides the account's %j, trusted or not", (account, expected) => {
    const merged = merge(
      [layer("user", { settings: { approveTools: account } }), layer("project", { settings: { approveTools: ["b_*"] } })],
      "ignore",
    );
    expect(merged.settings.approveTools).toEqual(expected);
    expect(merged.projectSettingsText).not.toBeNull();
  });

  test("[UC34] never weaken what the account asks about while they are not trusted, whatever they say", () => {
    const asking = fc.oneof(fc.boolean(), fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 3 }), fc.constant("unreadable"));
    const asked = (settings: UpstreamConfig["settings"]): readonly string[] =>
      ["a", "b", "c"].filter((name) => settings.approveTools === true || (settings.approveTools !== false && settings.approveTools.includes(name)));
    fc.assert(
      fc.property(asking, fc.array(asking, { maxLength: 3 }), (account, projects) => {
        const own = layer("user", { settings: { approveTools: account } });
        const others = projects.map((value) => layer("project", { settings: { approveTools: value } }));
        expect(asked(merge([own, ...others], "ignore").settings)).toEqual(expect.arrayContaining([...asked(merge([own]).settings)]));
      }),
    );
  });

  test("[UC33] that only change what is shown or how long one waits need no trust", () => {
    const shown = { directTools: true, idleTimeout: 1, requestTimeoutMs: 5, showStatusIcon: false, mcpFooterStatus: "off", collapsedResultLines: 2 };
    const merged = merge([layer("project", { settings: shown, mcpServers: { x: { command: "a" } } })], "ignore");
    expect(merged.projectSettingsText).toBeNull();
    expect(merged.settings).toMatchObject({ directTools: true, showStatusIcon: false, mcpFooterStatus: "off", collapsedResultLines: 2 });
    expect(definition(merged.servers.get("x")!)).toMatchObject({ idleTimeoutMs: 60_000, requestTimeoutMs: 5 });
  });
});

describe("settings", () => {
  test("[UC26] of the wrong kind are ignored with a warning, and the weaker layer's count", () => {
    const merged = merge([
      layer("user", { settings: { idleTimeout: 5, scriptMode: false } }),
      layer("agent-dir", { settings: { idleTimeout: "soon", scriptMode: "no" } }),
    ]);
    expect(merged.settings.scriptMode).toBe(false);
    expect(merged.warnings).toEqual([
      {
        file: "/agent-dir.json",
        server: null,
        message: 'the setting "idleTimeout" must be a number of minutes, 0 or more, got a string; it is ignored',
      },
      { file: "/agent-dir.json", server: null, message: 'the setting "scriptMode" must be true or false, got a string; it is ignored' },
    ]);
  });

  test("[UC26] with an approveTools nobody can read ask about everything", () => {
    expect(merge([layer("user", { settings: { approveTools: "delete_*" } })]).settings.approveTools).toBe(true);
  });

  test("[UC35] that are not done yet are said, and the others count", () => {
    const { settings, warnings } = merge([
      layer("user", { settings: { autoAuth: true, oauthDir: "x", jev: { model: "m" }, idleTimeout: 1 }, claudePlugins: [{ path: "p" }] }),
      layer("project", { settings: { autoAuth: false } }),
    ]);
    expect(settings.autoAuth).toBe(false);
    expect(warnings.map(({ file, message }) => `${file} ${message.split(":")[0]}`)).toEqual([
      '/user.json "claudePlugins" has no effect here yet',
      '/user.json the setting "autoAuth" has no effect here yet',
      '/user.json the setting "oauthDir" has no effect here yet',
      '/user.json the setting "jev" has no effect here yet',
    ]);
  });

  test("[UC27] guard the output unless they say otherwise", () => {
    const guardOf = (value: JsonValue | undefined, env = {}) =>
      merge([layer("user", value === undefined ? {} : { settings: { outputGuard: value } })], "use", env).settings.outputGuard;
    const usual = { maxBytes: 51_200, maxLines: 2000, detailsMaxBytes: 16_384 };
    expect(guardOf(undefined)).toEqual(usual);
    expect(guardOf(true)).toEqual(usual);
    expect(guardOf({ maxLines: 5 })).toEqual({ ...usual, maxLines: 5 });
    expect(guardOf(false)).toBeNull();
    for (const off of ["0", "false", "no", "OFF", " 0 "]) expect(guardOf(true, { MCP_OUTPUT_GUARD: off })).toBeNull();
    expect(guardOf(true, { MCP_OUTPUT_GUARD: "1" })).toEqual(usual);
  });

  test("[UC27] leave the guard the room it needs", () => {
    const guarded = (maxBytes: number) => merge([layer("user", { settings: { outputGuard: { maxBytes, maxLines: 5 } } })]);
    expect(guarded(1024)).toMatchObject({ settings: { outputGuard: { maxBytes: 1024, maxLines: 5 } }, warnings: [] });
    const little = guarded(10);
    expect(little.settings.outputGuard).toMatchObject({ maxBytes: 1024, maxLines: 5 });
    expect(little.warnings.map(({ message }) => message)).toEqual([
      'the setting "outputGuard" must have "maxBytes" of 1024 or more, got 10; 1024 is used',
    ]);
  });

  test("a boxed result shows three lines, a compact one shows one", () => {
    expect(merge([]).settings).toMatchObject({ toolResultRendering: "boxed", collapsedResultLines: 3 });
    expect(merge([layer("user", { settings: { toolResultRendering: "compact" } })]).settings.collapsedResultLines).toBe(1);
  });
});
