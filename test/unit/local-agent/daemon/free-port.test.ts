import { expect, test } from "vitest";
import { explainListenError } from "../../../../local-agent/daemon/free-port.ts";

const failed = (code: string): Error => Object.assign(new Error(code), { code });

test.for<[string, "port" | "ui-port", string, string]>([
  ["EADDRINUSE", "ui-port", "127.0.0.1", "Port 80 on 127.0.0.1 is in use by another program: end that, or choose another with --ui-port."],
  ["EACCES", "port", "127.0.0.1", "This account may not listen on port 80: choose one above 1023 with --port."],
  ["EADDRNOTAVAIL", "port", "192.0.2.1", "192.0.2.1 is not an address of this machine: change --host."],
  ["ENOTFOUND", "port", "no.example", "no.example is not an address of this machine: change --host."],
  ["EMFILE", "port", "127.0.0.1", "Cannot listen on 127.0.0.1 port 80 (EMFILE): change --host or --port."],
  ["EMFILE", "ui-port", "127.0.0.1", "Cannot listen on 127.0.0.1 port 80 (EMFILE): change --ui-host or --ui-port."],
])("[ER7] %s of --%s on %s is one sentence with the way out", ([code, flag, host, sentence]) => {
  expect(explainListenError(failed(code), { host, port: 80 }, flag).message).toBe(sentence);
});
