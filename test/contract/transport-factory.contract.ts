/** What every `TransportFactory` holds, whatever its servers are. */
import { Client } from "@modelcontextprotocol/client";
import { expect, onTestFinished, test } from "vitest";
import type { ServerDefinition } from "../../local-agent/adapter/config/server-definition.ts";
import type { OpenedTransport, TransportFactory } from "../../local-agent/adapter/ports.ts";

export interface FactoryUnderTest {
  readonly factory: TransportFactory;
  /** A server that works and has tools. */
  readonly good: ServerDefinition;
  /** One that cannot be used as it is configured. */
  readonly unusable: ServerDefinition;
  /** One of which something is waited for before there is a transport. */
  readonly slow: ServerDefinition;
}

export function describeTransportFactory(create: () => FactoryUnderTest): void {
  const live = new AbortController().signal;

  async function opened({ factory, good }: FactoryUnderTest): Promise<OpenedTransport> {
    const made = await factory.open(good, { signal: live, wire: "streamable-http" });
    if (!made.ok) throw new Error(made.error.message);
    onTestFinished(() => made.value.close());
    return made.value;
  }

  test("[UT1] [UT4] gives a transport that is not started, works once it is, and ends for good", async () => {
    const made = await opened(create());
    expect(made.stderrTail()).toBe("");
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "legacy" } });
    let ends = 0;
    client.onclose = () => (ends += 1);
    // A transport that was started before refuses this.
    await client.connect(made.transport);
    expect((await client.listTools()).tools).not.toEqual([]);
    await Promise.all([made.close(), made.close()]);
    await made.close();
    expect(ends).toBe(1);
    await expect(client.listTools()).rejects.toThrow();
  });

  test("[UT4] gives each its own: one that is closed unstarted ends no other", async () => {
    const under = create();
    const [one, other] = [await opened(under), await opened(under)];
    await one.close();
    await one.close();
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "legacy" } });
    await client.connect(other.transport);
    expect((await client.listTools()).tools).not.toEqual([]);
    expect(await under.factory.explain(under.good, new Error("an error of the test"), live)).toBeNull();
    expect(await under.factory.renewCredentials(under.good)).toBe(false);
  });

  test("[UT22] says in a sentence what cannot be used, and does not throw", async () => {
    const { factory, unusable } = create();
    const failed = await factory.open(unusable, { signal: live, wire: "streamable-http" });
    expect(failed).toEqual({ ok: false, error: { kind: "config", message: expect.stringMatching(/\w.*\.$/s) as unknown } });
  });

  test("[UT14] stops waiting when it is cancelled, before or meanwhile", async () => {
    const { factory, slow } = create();
    const cancel = new AbortController();
    const waits = factory.open(slow, { signal: cancel.signal, wire: "streamable-http" });
    setImmediate(() => cancel.abort());
    const failure = { ok: false, error: { message: expect.stringMatching(/\w/) as unknown } };
    expect(await waits).toMatchObject(failure);
    expect(await factory.open(slow, { signal: cancel.signal, wire: "streamable-http" })).toMatchObject(failure);
  });
}
