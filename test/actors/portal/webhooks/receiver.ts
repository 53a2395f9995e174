/** A real HTTP receiver of webhooks: keeps what it gets, and answers as the test says. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';

export interface ReceivedCall {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type Answer = (call: ReceivedCall, response: ServerResponse) => void;

export interface Receiver {
  readonly port: number;
  readonly url: string;
  readonly calls: ReceivedCall[];
  /** Connections made so far. */
  connections(): number;
  /** Way in which it answers from now on. */
  answer: Answer;
  close(): Promise<void>;
}

export const ok: Answer = (_, response) => response.writeHead(204).end();
export const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (_, response) =>
    response.writeHead(code, headers).end(`answer ${code}`);
export const never: Answer = () => {};

export async function startReceiver(
  t: Pick<ExecutionContext, 'teardown'>,
  answer: Answer = ok,
  port = 0,
): Promise<Receiver> {
  let connections = 0;
  const calls: ReceivedCall[] = [];
  const receiver = { answer };
  const server = createServer((request: IncomingMessage, response) => {
    const pieces: Buffer[] = [];
    request.on('error', () => {});
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const call = { method, path: url, headers, body: Buffer.concat(pieces).toString('utf8') };
      calls.push(call);
      receiver.answer(call, response);
    });
  });
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  t.teardown(close);
  const bound = (server.address() as AddressInfo).port;
  return Object.assign(receiver, {
    port: bound,
    url: `http://127.0.0.1:${bound}/hook`,
    calls,
    connections: () => connections,
    close,
  });
}
