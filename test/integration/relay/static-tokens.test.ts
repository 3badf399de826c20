import { expect, onTestFinished, test } from "vitest";
import { TOKEN } from "../../support/deposits.ts";
import { call, post } from "../../support/mcp-post.ts";
import { RawAgent } from "../../support/raw-agent.ts";
import { staticToken } from "../../support/static-token.ts";
import { waitUntil } from "../../support/wait-until.ts";
import { startWorker } from "../../support/worker-runtime.ts";

/** After an announced farewell everybody is answered at once, so that only the token decides. */
const leave = async (agent: RawAgent): Promise<void> => {
  agent.send({ t: "bye", why: "leaving", message: "", comeBack: false });
  await agent.closed();
};

test("[OA120] [OA121] the agent replaces the static tokens while it runs: at once, for good, and all or nothing", async () => {
  const relay = await startWorker();
  onTestFinished(() => relay.close());
  const status = async (token: string) => {
    const answer = await post(`${relay.origin}/mcp`, call(1), { token });
    const text = await answer.text();
    return answer.status === 401 && !(answer.headers.get("www-authenticate") ?? "").includes('error="invalid_token"') ? text : answer.status;
  };
  const first = await RawAgent.dial(relay.origin);
  await first.hello().next("welcome");
  const set = (staticTokens: unknown, id: string) => first.send({ t: "call", id, method: "tokens.set", params: { staticTokens } });

  const expiring = { ...staticToken("expiring", "expiring-token-0123456789"), expiresAt: Date.now() + 3000 };
  const past = { ...staticToken("past", "past-token-0123456789"), expiresAt: Date.now() - 1 };
  set([staticToken("one", "one-token-0123456789"), expiring, past], "good");
  expect(await first.next("reply")).toMatchObject({ id: "good", ok: true, result: {} });
  for (const [at, bad] of [{}, [{ id: "x" }], [{ ...expiring, sha256: "ABC" }], Array.from({ length: 257 }, () => past)].entries()) {
    set(bad, `bad ${at}`);
    expect(await first.next("reply", 5000, at + 1)).toMatchObject({
      id: `bad ${at}`,
      ok: false,
      message: expect.stringContaining("tokens.set expects") as string,
    });
  }
  await leave(first);
  expect([await status("one-token-0123456789"), await status("expiring-token-0123456789")]).toEqual([200, 200]);
  expect([await status(TOKEN), await status("past-token-0123456789")]).toEqual([401, 401]);
  await waitUntil("it has expired", async () => (await status("expiring-token-0123456789")) === 401);
  await relay.hibernate();
  expect([await status("one-token-0123456789"), await status(TOKEN)]).toEqual([200, 401]);

  const second = await RawAgent.dial(relay.origin);
  await second.hello().next("welcome");
  await leave(second);
  expect([await status("one-token-0123456789"), await status(TOKEN)]).toEqual([401, 200]);
});
