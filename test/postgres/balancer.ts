/** A plain TCP balancer: each connection goes to the next target that accepts it. */
import { createConnection, createServer, type Socket } from 'node:net';

export interface Balancer {
  readonly port: number;
  close(): Promise<void>;
}

/** @param targets ports on the loopback address; read for each connection */
export async function startBalancer(targets: () => readonly number[]): Promise<Balancer> {
  const sockets = new Set<Socket>();
  let next = 0;
  const server = createServer({ pauseOnConnect: true }, (client) => {
    sockets.add(client);
    client.on('close', () => sockets.delete(client));
    client.on('error', () => client.destroy());
    const ports = targets();
    next += 1;
    connect(client, ports, next, ports.length);
  });
  const connect = (client: Socket, ports: readonly number[], first: number, left: number) => {
    const port = ports[first % ports.length];
    if (port === undefined || left === 0 || client.destroyed) {
      client.destroy();
      return;
    }
    const upstream = createConnection(port, '127.0.0.1');
    const refused = () => connect(client, ports, first + 1, left - 1);
    upstream.once('error', refused);
    upstream.once('connect', () => {
      upstream.off('error', refused);
      sockets.add(upstream);
      for (const [from, to] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        from.on('error', () => to.destroy());
        from.on('close', () => {
          sockets.delete(from);
          to.destroy();
        });
        from.pipe(to);
      }
    });
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as { port: number }).port,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
