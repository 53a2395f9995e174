/** A server between browser and service: withholds a part of the pages, and is the proxy of names that do not exist. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';

export interface Front {
  readonly url: string;
  /** `host:port`. */
  readonly address: string;
  /** Name of the file that is answered with 503. */
  withheld: string | undefined;
  /** Number of requests for it. */
  refused: number;
}

/**
 * Forwards every request to the service, which sees the host that it names. @param names addresses of services by host
 * names for which the browser uses it as its proxy
 */
export async function startFront(
  t: Pick<ExecutionContext, 'teardown'>,
  service: string,
  names: { readonly [host: string]: string } = {},
): Promise<Front> {
  const server = createServer((incoming, outgoing) => {
    // A browser sends its proxy the whole address.
    const { pathname, search, host, origin } = new URL(incoming.url ?? '/', service);
    // WebKit asks its proxy for every loopback address but 127.0.0.1, too.
    const { hostname, port } = new URL(names[host] ?? (host.startsWith('127.') ? origin : service));
    if (front.withheld !== undefined && pathname.endsWith(`/${front.withheld}`)) {
      front.refused += 1;
      outgoing.writeHead(503).end();
      return;
    }
    const asked = request(
      { hostname, port, method: incoming.method, path: pathname + search, headers: incoming.headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
      },
    );
    // A browser that leaves the page aborts its requests.
    asked.on('error', () => outgoing.destroy());
    incoming.pipe(asked);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const front: Front = { url: `http://${address}`, address, withheld: undefined, refused: 0 };
  return front;
}
