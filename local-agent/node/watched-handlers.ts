/** Looks at what a transport delivers, without standing between it and its client. */
import type { Transport } from "@modelcontextprotocol/client";

/**
 * Has `see` run before whatever handler is set. The SDK reads handlers back, wraps them and sets them again, so a handler may well lead
 * to this step a second time: that one is passed over.
 */
export function watchHandler<Name extends "onmessage" | "onclose" | "onerror">(
  transport: Transport,
  name: Name,
  see: (...args: never[]) => void,
): void {
  type Handler = (...args: unknown[]) => void;
  let handler = transport[name] as Handler | undefined;
  let inside = false;
  const seeing =
    (current: Handler): Handler =>
    (...args) => {
      if (inside) return current(...args);
      inside = true;
      try {
        (see as Handler)(...args);
        current(...args);
      } finally {
        inside = false;
      }
    };
  Object.defineProperty(transport, name, {
    configurable: true,
    enumerable: true,
    get: () => (handler === undefined ? undefined : seeing(handler)),
    set: (given: Handler | undefined) => {
      handler = given;
    },
  });
}
