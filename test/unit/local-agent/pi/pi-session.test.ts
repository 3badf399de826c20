/** One instance of the extension while sessions of Pi come and go. */
import { EventEmitter } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { createPiSession } from "../../../../local-agent/pi/pi-session.ts";

function scene() {
  const events = new EventEmitter();
  const said: string[] = [];
  const tools: string[] = [];
  const pi = {
    events: { emit: (name: string, data: unknown) => void events.emit(name, data), on: () => {} },
    getFlag: () => undefined,
    getMcpServers: () => [],
    getActiveTools: () => [],
    getAllTools: () => [],
    registerTool: ({ name }: { name: string }) => void tools.push(name),
    registerCommand: () => {},
  };
  const context = {
    cwd: process.cwd(),
    mode: "tui",
    hasUI: true,
    isProjectTrusted: () => true,
    ui: { notify: (text: string) => void said.push(text), setStatus: () => {} },
  };
  const session = createPiSession(pi as never, { config: { mcpServers: {} }, configPath: null });
  onTestFinished(() => session.end());
  return { session, context: context as never, said, tools };
}

test("[PI5] a server that is registered while the session begins is no failure of anything", async () => {
  const { session, context, said, tools } = scene();
  await Promise.all([session.begin(context), session.restart()]);
  expect(session.adapter.state().at).toBe("ready");
  expect({ said, tools }).toEqual({ said: [], tools: [] });
});
