/** A TCP proxy on loopback whose connections a test cuts, freezes or refuses: the network between agent and relay. */
import { createServer, connect, type Socket } from "node:net";
import type { AddressInfo } from "node:net";

export interface CuttableProxy {
  readonly origin: string;
  /** Cuts every open connection with a reset. */
  cut(): void;
  /** Nothing passes either way, though connections stay open. */
  freeze(): void;
  thaw(): void;
  /** New connections are reset at once. */
  refuse(isRefusing: boolean): void;
  close(): Promise<void>;
}

export async function startProxy(targetPort: number): Promise<CuttableProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let isRefusing = false;
  const server = createServer((near) => {
    if (isRefusing) return void near.resetAndDestroy();
    const far = connect(targetPort, "127.0.0.1");
    const pair = [near, far] as const;
    pairs.add(pair);
    near.pipe(far);
    far.pipe(near);
    for (const socket of pair) {
      socket.on("error", () => undefined);
      socket.on("close", () => {
        pairs.delete(pair);
        near.destroy();
        far.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const each = (act: (socket: Socket) => void) => {
    for (const pair of pairs) for (const socket of pair) act(socket);
  };
  return {
    origin: `http://127.0.0.1:${port}`,
    cut: () => each((socket) => socket.resetAndDestroy()),
    freeze: () => {
      for (const [near, far] of pairs) {
        near.unpipe(far).pause();
        far.unpipe(near).pause();
      }
    },
    thaw: () => {
      for (const [near, far] of pairs) {
        near.pipe(far);
        far.pipe(near);
      }
    },
    refuse: (on) => {
      isRefusing = on;
    },
    close: async () => {
      each((socket) => socket.destroy());
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
