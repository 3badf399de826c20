import * as fc from "fast-check";
import { expect, test } from "vitest";
import { shownAddress } from "../../../../local-agent/adapter/upstream/shown-address.ts";
import { failureText } from "../../../../local-agent/adapter/upstream/failure-text.ts";
import { httpError } from "../../../support/scripted-upstreams.ts";

test("[UP8] a failure is one line of at most 1,000 characters, whatever it was", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 5000, unit: "binary" }), fc.string({ maxLength: 9000, unit: "binary" }), (message, tail) => {
      const text = failureText(new Error(message), tail);
      expect(text.length).toBeLessThanOrEqual(1000);
      expect(text).not.toMatch(/[\n\r]/);
      expect(text).not.toBe("");
    }),
  );
});

test("[UP8] it says what is behind an error, and what the process wrote last", () => {
  const cause = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:9"), { code: "ECONNREFUSED" });
  expect(failureText(new Error("fetch failed", { cause }), "")).toBe("fetch failed: connect ECONNREFUSED 127.0.0.1:9");
  expect(failureText(new Error("Connection closed"), "one\n\ntwo\nthree\nfour\n")).toBe("Connection closed. The process wrote: two | three | four");
  expect(failureText(httpError(502, "<html>Bad gateway</html>"), "")).toContain("HTTP 502");
  expect(failureText(undefined, "")).toBe("no reason was given");
});

test("[UP8] it keeps no query of an address", () => {
  const text = failureText(new Error("GET https://example.com/mcp?token=hush#also failed"), "opening http://a.b/c?key=hush2\n");
  expect(text).toContain("https://example.com/mcp failed");
  expect(text).not.toMatch(/hush/);
});

test("[UP8] it keeps no password of an address, of whatever kind", () => {
  const text = failureText(
    new Error("no answer from https://me:hush@a.b/c"),
    "could not reach postgres://app:hush2@db:5432/x?ssl=hush3 (me@mail.example)\n",
  );
  expect(text).toBe("no answer from https://a.b/c. The process wrote: could not reach postgres://db:5432/x (me@mail.example)");
});

test("[UP8] a giant text is looked through once, whatever it is made of", () => {
  for (const piece of ["a", "a://", "http://", "://a?", "?", "https://a.b/", ":// ", "://@"]) {
    const text = piece.repeat(1_000_000 / piece.length);
    expect(failureText(new Error(text), "").length).toBeLessThanOrEqual(1000);
  }
});

test.each([
  ["https://mcp.example/api/mcp/s/MzE0YTk1ZjItYjI/mcp?key=1#a", "https://mcp.example/api/mcp/s/…/mcp"],
  ["https://mcp.example/v1.2/sse/", "https://mcp.example/v1.2/sse/"],
  ["http://127.0.0.1:8000/a8f5f167f44f4964/x", "http://127.0.0.1:8000/…/x"],
  ["https://mcp.example", "https://mcp.example"],
  ["https://me:hush@mcp.example/mcp", "https://mcp.example/mcp"],
  ["https://hu'(sh@mcp.example/mcp", "https://mcp.example/mcp"],
])("[UT44] of %s a client reads %s", (address, shown) => {
  expect(shownAddress(address)).toBe(shown);
  expect(failureText(new Error(`no answer from ${address}. Try later`), "")).toBe(`no answer from ${shown}. Try later`);
});
