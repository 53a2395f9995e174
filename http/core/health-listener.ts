/**
 * Health and readiness at a separate address, over plain http and also for HTTP/1.0: the library of the other listeners
 * answers that version with 505 (https://github.com/uNetworking/uWebSockets/issues/1547), and some load balancers use
 * nothing else.
 *
 * Source: docs/batch-values.md §0 (`GET /api/health`), §3 (`GET /api/ready`); RFC 9112 §2.3.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type HttpServer, ListenFailure } from './listener.ts';

export interface HealthAnswer {
  readonly status: number;
  readonly body: unknown;
}

const HEALTHY: HealthAnswer = { status: 200, body: { status: 'Healthy' } };
/** Maximum connections, size of a request head in bytes, and time for a request to arrive in milliseconds. */
const MAX_CONNECTIONS = 256;
const MAX_HEAD_BYTES = 4096;
const ARRIVES_WITHIN_MS = 5000;

/** @param readiness answer of `GET /api/ready` for callers without a key: they are not authenticated here */
export function createHealthListener({
  host,
  port,
  readiness,
}: {
  host: string;
  port: number;
  readiness: () => Promise<HealthAnswer>;
}): HttpServer {
  const options = {
    maxHeaderSize: MAX_HEAD_BYTES,
    headersTimeout: ARRIVES_WITHIN_MS,
    requestTimeout: ARRIVES_WITHIN_MS,
    connectionsCheckingInterval: 1000,
  };
  const answers: { readonly [path: string]: () => Promise<HealthAnswer> } = {
    '/api/health': async () => HEALTHY,
    '/api/ready': readiness,
  };
  const server = createServer(options, ({ method, url = '' }, response) => {
    const path = url.split('?', 1)[0] ?? '';
    const answer = Object.hasOwn(answers, path) ? answers[path] : undefined;
    if (answer === undefined) response.writeHead(404, { Connection: 'close' }).end();
    else if (method !== 'GET' && method !== 'HEAD')
      response.writeHead(405, { Allow: 'GET, HEAD', Connection: 'close' }).end();
    else
      answer().then(
        (given) => reply(response, given),
        () => reply(response, { status: 503, body: { status: 'NotReady' } }),
      );
  });
  server.maxConnections = MAX_CONNECTIONS;
  return {
    listen: () =>
      new Promise((resolve, reject) => {
        server.once('error', () => reject(new ListenFailure(host, port)));
        server.listen(port, host, () => {
          const { port: real } = server.address() as AddressInfo;
          resolve({ url: `http://${host.includes(':') ? `[${host}]` : host}:${real}` });
        });
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function reply(response: ServerResponse, { status, body }: HealthAnswer): void {
  const text = JSON.stringify(body);
  response
    .writeHead(status, {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(text),
      'Cache-Control': 'no-store',
      Connection: 'close',
    })
    .end(text);
}
