import { describe, expect, test } from "vitest";
import { awaySentence, failureAnswer, offlineAnswer } from "../../../../worker/workspace/offline-answers.ts";
import type { OfflineAnswers } from "../../../../shared/wire/frames.ts";

const OFFLINE: OfflineAnswers = {
  legacy: {
    initialize: { "2025-06-18": { protocolVersion: "2025-06-18" }, "2025-11-25": { protocolVersion: "2025-11-25" } },
    fallbackVersion: "2025-11-25",
    results: { "tools/list": { tools: ["legacy"] }, ping: {} },
    toolCall: { content: [{ type: "text", text: "No. {away}" }], isError: true },
  },
  modern: {
    results: { "server/discover": { supportedVersions: ["2026-07-28"] }, "tools/list": { resultType: "complete", tools: ["modern"] } },
    toolCall: { resultType: "complete", content: [{ type: "text", text: "No. {away}" }], isError: true },
  },
  otherwise: "Not now. {away}",
};
const MODERN = { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } };
const ask = (message: unknown, away = 'away since "noon"') => {
  const answer = offlineAnswer("POST", typeof message === "string" ? message : JSON.stringify(message), OFFLINE, away);
  return { status: answer.status, body: answer.body === "" ? undefined : (JSON.parse(answer.body) as Record<string, unknown>) };
};
const request = (method: string, params: object = {}, id: unknown = 1) => ({ jsonrpc: "2.0", id, method, params });

describe("offlineAnswer", () => {
  test("[OF1] answers a call with the sentence, in the caller's era and with its id", () => {
    for (const id of [0, "", "x", -5]) {
      expect(ask(request("tools/call", {}, id)).body).toEqual({
        jsonrpc: "2.0",
        id,
        result: { content: [{ type: "text", text: 'No. away since "noon"' }], isError: true },
      });
    }
    expect(ask(request("tools/call", MODERN)).body?.["result"]).toMatchObject({ resultType: "complete", isError: true });
  });

  test("[OF2] initializes with the version asked for, or the fallback", () => {
    const versionFor = (protocolVersion: unknown) =>
      (ask(request("initialize", { protocolVersion })).body?.["result"] as { protocolVersion: string } | undefined)?.protocolVersion;
    expect(versionFor("2025-06-18")).toBe("2025-06-18");
    for (const unknown of ["2030-01-01", undefined, 5, "__proto__", "constructor"]) expect(versionFor(unknown)).toBe("2025-11-25");
  });

  test("[OF3] lists by era", () => {
    expect(ask(request("tools/list")).body?.["result"]).toEqual({ tools: ["legacy"] });
    expect(ask(request("tools/list", MODERN)).body?.["result"]).toEqual({ resultType: "complete", tools: ["modern"] });
    expect(ask(request("server/discover")).body?.["result"]).toEqual({ supportedVersions: ["2026-07-28"] });
  });

  test("[OF4] takes notifications, refuses what is malformed, and answers the rest with an error", () => {
    expect(ask({ jsonrpc: "2.0", method: "notifications/initialized" })).toEqual({ status: 202, body: undefined });
    expect(ask([request("ping")])).toMatchObject({ status: 400, body: { error: { code: -32600 } } });
    expect(ask("{")).toMatchObject({ status: 400, body: { id: null, error: { code: -32700 } } });
    expect(ask({ ...request("ping"), id: null })).toMatchObject({ status: 400, body: { id: null } });
    expect(ask(request("completion/complete"))).toMatchObject({ status: 200, body: { id: 1, error: { message: 'Not now. away since "noon"' } } });
    expect(offlineAnswer("DELETE", "", OFFLINE, "")).toEqual({ status: 204, body: "" });
  });

  test("[OF5] treats the caller's id and method as data", () => {
    expect(ask(request("tools/call", {}, "{away}")).body?.["id"]).toBe("{away}");
    for (const method of ["__proto__", "constructor", "toString", "hasOwnProperty"]) expect(ask(request(method)).body).toHaveProperty("error");
    expect(ask(request("tools/call"), "$& $1 \\ \u2028").body?.["result"]).toMatchObject({ content: [{ text: "No. $& $1 \\ \u2028" }] });
  });
});

describe("failureAnswer", () => {
  test("[WP15] carries the caller's id with 200, so that nothing repeats what may have run", () => {
    const answer = failureAnswer("agent_restarted", JSON.stringify(request("tools/call", {}, 0)));
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body)).toMatchObject({ id: 0, error: { code: -32603 } });
    expect(answer.body).toContain("may have run");
  });

  test("[WP15] is a 502 where there is no id", () => {
    for (const body of ["", "{", '{"jsonrpc":"2.0","method":"notifications/x"}'])
      expect(failureAnswer("deadline", body)).toMatchObject({ status: 502 });
  });
});

test("awaySentence says since when, in words", () => {
  const since = Date.UTC(2026, 10, 30, 12, 0);
  expect(awaySentence(since, since + 12 * 60_000)).toBe("The workstation has been away since 2026-11-30 12:00 UTC (12 min).");
  expect(awaySentence(since, since + 3 * 3_600_000)).toContain("(3 h)");
  expect(awaySentence(since, since + 5 * 86_400_000)).toContain("(5 days)");
  expect(awaySentence(undefined, 0)).toBe("The workstation is not connected right now.");
});
