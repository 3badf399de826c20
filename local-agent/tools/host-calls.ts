/** The tool host's side of the protocol: what is prepared, what runs, what is aborted. */
import { failedOutcome, type FromHost, type HostSettings, type ToHost } from "./host-protocol.ts";
import { startService, type ToolService } from "./host-service.ts";
import { removePrivateDir } from "./private-dir.ts";
import { executeCall, prepareCall, type PreparedArguments } from "./pi-tools.ts";
import { endMarked } from "./process-marker.ts";
import { isToolName } from "./tool-traits.ts";

/** Prepared calls nobody executed or discarded; the oldest gives way. */
const MAX_PREPARED = 256;

export interface HostCalls {
  receive(message: ToHost): Promise<void>;
  /** Aborts every call and ends everything the host ever started. `orphaned`: the agent is gone, so its directory goes too. */
  end(how: { readonly orphaned: boolean }): Promise<void>;
}

export function startHostCalls(send: (message: FromHost) => void): HostCalls {
  const prepared = new Map<number, PreparedArguments>();
  const running = new Map<number, AbortController>();
  let service: ToolService | undefined;
  let started: HostSettings | undefined;
  let lastHandle = 0;

  const prepare = (message: ToHost & { t: "prepare" }): void => {
    if (service === undefined || !isToolName(message.name) || !service.tools.includes(message.name)) {
      send({ t: "result", id: message.id, outcome: failedOutcome(`there is no tool "${message.name}" here`) });
      return;
    }
    const result = prepareCall(message.name, message.args, service.settings);
    if (!result.ok) {
      send({ t: "result", id: message.id, outcome: result.error });
      return;
    }
    lastHandle += 1;
    prepared.set(lastHandle, result.value);
    const oldest = prepared.keys().next().value;
    if (prepared.size > MAX_PREPARED && oldest !== undefined) prepared.delete(oldest);
    send({ t: "prepared", id: message.id, handle: lastHandle, args: result.value.args });
  };

  const execute = async (message: ToHost & { t: "execute" }): Promise<void> => {
    const call = prepared.get(message.handle);
    prepared.delete(message.handle);
    if (service === undefined || call === undefined) {
      send({ t: "result", id: message.id, outcome: failedOutcome("this call was prepared too long ago and was not run: make it again") });
      return;
    }
    const abort = new AbortController();
    running.set(message.id, abort);
    const outcome = await executeCall(call, service.settings, {
      callId: message.callId,
      label: `call-${message.id}`,
      signal: abort.signal,
      report: (delta) => send({ t: "progress", id: message.id, delta }),
    });
    running.delete(message.id);
    send({ t: "result", id: message.id, outcome });
  };

  return {
    async receive(message) {
      switch (message.t) {
        case "start":
          started = message.settings;
          service = await startService(message.settings, send);
          return;
        case "prepare":
          return prepare(message);
        case "execute":
          return execute(message);
        case "discard":
          prepared.delete(message.handle);
          return;
        case "abort":
          running.get(message.id)?.abort();
      }
    },
    async end({ orphaned }) {
      for (const abort of running.values()) abort.abort();
      if (started === undefined) return;
      await endMarked({ mark: started.mark });
      if (orphaned) removePrivateDir(started.privateDir);
    },
  };
}
