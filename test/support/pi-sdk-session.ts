/** A session of the real Pi in this process, as a program that embeds Pi makes one, with a model that does what it is told. */
import {
  createAgentSession,
  DefaultResourceLoader,
  type ExtensionFactory,
  ModelRuntime,
  SessionManager,
  SettingsManager,
} from "@earendil-works/pi-coding-agent";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import { obedientProvider } from "../fixtures/obedient-model.ts";
import { tempDir } from "./temp-dir.ts";
import { waitUntil } from "./wait-until.ts";

interface ToolAnswer {
  readonly tool: string;
  readonly text: string;
  readonly isError: boolean;
  readonly details: Readonly<Record<string, unknown>>;
}

type Session = Awaited<ReturnType<typeof createAgentSession>>["session"];
type Bindings = Parameters<Session["bindExtensions"]>[0];

export interface EmbeddedPi {
  readonly session: Session;
  /** Begins the session for its extensions. */
  begin(bindings?: Bindings): Promise<void>;
  /** Has the model make these calls (`name {arguments}`), one after the other; gives what was answered. */
  calls(...lines: readonly string[]): Promise<ToolAnswer[]>;
  /** What Pi has for its model to call, without the tools every Pi has. */
  tools(): readonly string[];
  dispose(): void;
}

/** A home for what a session reads and keeps, in the place of the person's; until the test ends. */
export function piHome(): { readonly home: string; readonly project: string } {
  const home = tempDir();
  vi.stubEnv("HOME", home);
  vi.stubEnv("PI_CODING_AGENT_DIR", join(home, "agent"));
  onTestFinished(() => void vi.unstubAllEnvs());
  return { home, project: tempDir() };
}

export async function embedPi(
  cwd: string,
  extensions: readonly ExtensionFactory[],
  sessionManager = SessionManager.inMemory(cwd),
  settings: Parameters<typeof SettingsManager.inMemory>[0] = {},
): Promise<EmbeddedPi> {
  const agentDir = tempDir();
  const faux = obedientProvider();
  const modelRuntime = await ModelRuntime.create({ authPath: join(agentDir, "auth.json"), modelsPath: null });
  modelRuntime.registerNativeProvider(faux.provider);
  const settingsManager = SettingsManager.inMemory(settings);
  const resourceLoader = new DefaultResourceLoader({ cwd, agentDir, extensionFactories: [...extensions], settingsManager });
  await resourceLoader.reload();
  const { session } = await createAgentSession({
    cwd,
    agentDir,
    modelRuntime,
    model: faux.getModel(),
    resourceLoader,
    sessionManager,
    settingsManager,
  });
  const answers: ToolAnswer[] = [];
  session.subscribe((event) => {
    if (event.type !== "tool_execution_end") return;
    const { content, details } = event.result as { content: readonly { text?: string }[]; details: ToolAnswer["details"] };
    answers.push({ tool: event.toolName, text: content.map(({ text = "" }) => text).join("\n"), isError: event.isError, details });
  });
  onTestFinished(() => session.dispose());
  return {
    session,
    begin: (bindings = {}) => session.bindExtensions(bindings),
    async calls(...lines) {
      const from = answers.length;
      await session.prompt(lines.join("\n"));
      await waitUntil("Pi is idle", () => session.isIdle);
      return answers.slice(from);
    },
    tools: () => session.getActiveToolNames().filter((name) => !["read", "bash", "edit", "write"].includes(name)),
    dispose: () => session.dispose(),
  };
}
