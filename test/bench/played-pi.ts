/** As much of Pi as an extension needs to offer its tools: a session begins, nobody is at the terminal, and the tools are called. */
import { EventEmitter } from "node:events";

/** Call id, arguments, signal, progress, context. */
type Execute = (...given: readonly unknown[]) => Promise<ToolAnswer>;

interface RegisteredTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: object;
  readonly execute: Execute;
}

interface ToolAnswer {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
}

export interface PlayedPi {
  /** As they were registered last. */
  readonly tools: ReadonlyMap<string, RegisteredTool>;
  call(tool: string, args: object): Promise<ToolAnswer>;
  end(): Promise<void>;
}

/** Resolves when the extension has let the session begin. */
export async function playPi(extension: (pi: never) => unknown, cwd: string): Promise<PlayedPi> {
  const tools = new Map<string, RegisteredTool>();
  const handlers = new Map<string, ((event: object, context: object) => unknown)[]>();
  const events = new EventEmitter();
  const ui = silent({ theme: silent({}) });
  const sessionManager = silent({ getBranch: () => [], getEntries: () => [] });
  const context = silent({ cwd, hasUI: false, mode: "print", ui, sessionManager, signal: undefined, isProjectTrusted: () => true });
  const pi = silent({
    events: {
      emit: (name: string, data: unknown) => void events.emit(name, data),
      on: (name: string, listener: (data: unknown) => void) => {
        events.on(name, listener);
        return () => void events.off(name, listener);
      },
    },
    on: (name: string, handler: (event: object, context: object) => unknown) => void handlers.set(name, [...(handlers.get(name) ?? []), handler]),
    registerTool: (tool: RegisteredTool) => void tools.set(tool.name, tool),
    getAllTools: () => [...tools.values()],
    getCommands: () => [],
    getMcpServers: () => [],
    getActiveTools: () => [...tools.keys()],
  });
  const tell = async (event: { readonly type: string; readonly reason: string }): Promise<void> => {
    for (const handler of handlers.get(event.type) ?? []) await handler(event, context);
  };
  await extension(pi as never);
  await tell({ type: "session_start", reason: "startup" });
  return {
    tools,
    async call(name, args) {
      const tool = tools.get(name);
      if (tool === undefined) throw new Error(`the extension offers no ${name}`);
      return tool.execute("call", args, new AbortController().signal, undefined, context);
    },
    end: () => tell({ type: "session_shutdown", reason: "quit" }),
  };
}

/** Whatever else is asked of it does nothing. */
function silent(known: object): object {
  return new Proxy(known, { get: (target, name) => (name in target ? Reflect.get(target, name) : name === "then" ? undefined : () => undefined) });
}
