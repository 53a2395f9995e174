/** A TCP proxy before PostgreSQL that cuts connections where a test says so. */
import { createConnection, createServer, type Socket } from 'node:net';

/** Everything that happens to the next request that a client sends. */
export type Cut =
  /** The server never sees it. */
  | 'before-request'
  /** The server does it, and its answer is lost. */
  | 'before-answer';

export interface FaultyLine {
  readonly port: number;
  /** Cuts the connection of the next request whose bytes contain `marker`, once. */
  cutNext(marker: string, cut: Cut): void;
  /**
   * Lets nothing more through on the connection of the next request that contains `marker`, until `resume`. With
   * `answer` the server gets the request.
   */
  stallNext(marker: string, lost?: 'request' | 'answer'): void;
  /** Cuts all connections that there are. */
  cutAll(): void;
  /** Lets nothing through in either direction until `resume`. */
  pause(): void;
  resume(): void;
  close(): Promise<void>;
}

export async function startProxy(target: number): Promise<FaultyLine> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let armed: { readonly marker: string; readonly cut: Cut } | undefined;
  let stalled: { readonly marker: string; readonly lost: 'request' | 'answer' } | undefined;
  let paused = false;
  const server = createServer((client) => {
    const upstream = createConnection(target, '127.0.0.1');
    const pair = [client, upstream] as const;
    pairs.add(pair);
    const destroy = () => {
      pairs.delete(pair);
      client.destroy();
      upstream.destroy();
    };
    if (paused) for (const socket of pair) socket.pause();
    let losesAnswer = false;
    client.on('data', (bytes) => {
      if (stalled !== undefined && bytes.includes(stalled.marker)) {
        const { lost } = stalled;
        stalled = undefined;
        for (const socket of pair) socket.pause();
        if (lost === 'answer') upstream.write(bytes);
        else client.unshift(bytes);
        return;
      }
      if (armed !== undefined && bytes.includes(armed.marker)) {
        const { cut } = armed;
        armed = undefined;
        if (cut === 'before-request') {
          destroy();
          return;
        }
        losesAnswer = true;
      }
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (losesAnswer) destroy();
      else client.write(bytes);
    });
    for (const socket of pair) {
      socket.on('error', destroy);
      socket.on('close', destroy);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const every = (act: (socket: Socket) => void) => {
    for (const pair of pairs) for (const socket of pair) act(socket);
  };
  return {
    port: (server.address() as { port: number }).port,
    cutNext: (marker, cut) => {
      armed = { marker, cut };
    },
    stallNext: (marker, lost = 'request') => {
      stalled = { marker, lost };
    },
    cutAll: () => every((socket) => socket.destroy()),
    pause: () => {
      paused = true;
      every((socket) => socket.pause());
    },
    resume: () => {
      paused = false;
      every((socket) => socket.resume());
    },
    close: async () => {
      every((socket) => socket.destroy());
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
