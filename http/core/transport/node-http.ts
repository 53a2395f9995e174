/**
 * Serves with `node:http` where no uWebSockets binary loads: the same requests, limits and time-outs, in the shape of
 * `port.ts`.
 *
 * Source: docs/decisions/0170-second-http-library.md; RFC 9112 §3.2.2 (absolute targets), §9.3.2 (pipelining).
 */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, Server as TlsServer } from 'node:https';
import { type AddressInfo, Server as NetServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { MAX_HEAD_BYTES } from './head-limit.ts';
import { NodeResponse, TIMEOUT_MS } from './node-response.ts';
import type { OpenListener, PortOptions, RequestHandler, RequestHead } from './port.ts';

/** Scheme and authority of an absolute target, which names no user. Source: RFC 9112 §3.2.2, RFC 9110 §4.2.4. */
const ABSOLUTE = /^https?:\/\/([^/?#@]*)(?=[/?#]|$)/i;

class NodeRequest implements RequestHead {
  readonly #request: IncomingMessage;
  readonly #path: string;
  readonly #query: string | undefined;
  /** Of an absolute target, which counts in place of the `Host` header. */
  readonly #authority: string | undefined;
  /** Names, in lower case, and values. */
  #headers: readonly (readonly [name: string, value: string])[] | undefined;

  constructor(request: IncomingMessage) {
    this.#request = request;
    const target = utf8(request.url ?? '/');
    const [start = '', authority] = target.startsWith('/') ? [] : (ABSOLUTE.exec(target) ?? []);
    this.#authority = authority;
    const local = target.slice(start.length);
    const mark = local.indexOf('?');
    const path = mark < 0 ? local : local.slice(0, mark);
    this.#path = path === '' ? '/' : path;
    this.#query = mark < 0 ? undefined : local.slice(mark + 1);
  }

  getCaseSensitiveMethod(): string {
    return this.#request.method ?? '';
  }

  getUrl(): string {
    return this.#path;
  }

  getQuery(): string | undefined {
    return this.#query;
  }

  getHeader(lowerCaseName: string): string {
    if (lowerCaseName === 'host' && this.#authority !== undefined) return this.#authority;
    return this.#all().find(([name]) => name === lowerCaseName)?.[1] ?? '';
  }

  forEach(tell: (name: string, value: string) => void): void {
    for (const [name, value] of this.#all()) tell(name, value);
  }

  #all(): readonly (readonly [name: string, value: string])[] {
    if (this.#headers !== undefined) return this.#headers;
    const headers: (readonly [name: string, value: string])[] = [];
    const { rawHeaders } = this.#request;
    for (let index = 0; index + 1 < rawHeaders.length; index += 2)
      headers.push([(rawHeaders[index] ?? '').toLowerCase(), rawHeaders[index + 1] ?? '']);
    this.#headers = headers;
    return headers;
  }
}

/** Node reads each byte of a target as one character; the other library reads UTF-8. */
function utf8(text: string): string {
  return /[\u0080-\u00ff]/.test(text) ? Buffer.from(text, 'latin1').toString('utf8') : text;
}

/** As in uWebSockets. */
const MAX_HEADERS = 100;

/** Replies to what is no request, by the code of the parser's error. */
const REFUSALS: { readonly [code: string]: string } = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Content Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};
const NO_REQUEST = '400 Bad Request';

/** Opens a port with `node:http`. */
export const openNodePort: OpenListener = async (options, handle) => {
  const server = makeServer(options);
  // Zero: none is left out; Node would ignore those above 2000.
  server.maxHeadersCount = 0;
  const serve = (request: IncomingMessage, response: ServerResponse) =>
    begin(request, response, options, handle);
  server.on('request', serve);
  // A client that waits for 100 Continue gets it when its body is read, after its credentials are checked.
  server.on('checkContinue', serve);
  server.on('checkExpectation', serve);
  server.on('clientError', refuseConnection);
  server.timeout = TIMEOUT_MS;
  server.on('timeout', (socket) => {
    // While a request is worked on, its client need not do anything; a body has a timer of its own.
    const unanswered = NodeResponse.of(socket);
    if (unanswered === undefined || unanswered.isSending) socket.destroy();
  });
  const isOpen = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen({ host: options.host, port: options.port, exclusive: true }, () => resolve(true));
  });
  if (!isOpen) return undefined;
  return {
    port: (server.address() as AddressInfo).port,
    renewTls: () => {
      if (server instanceof TlsServer && options.tls) server.setSecureContext(certificateOf(options.tls));
    },
    // The method of `http.Server` drops idle connections, whose next request is to be answered with 503.
    stopAccepting: () => void NetServer.prototype.close.call(server),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
};

function makeServer({ tls, keepAliveSeconds }: PortOptions): Server {
  const limits = {
    maxHeaderSize: MAX_HEAD_BYTES,
    headersTimeout: TIMEOUT_MS,
    // A body has a minimum rate in place of a deadline (`NodeResponse`).
    requestTimeout: 0,
    keepAliveTimeout: keepAliveSeconds * 1000,
    connectionsCheckingInterval: 1000,
    insecureHTTPParser: false,
  };
  if (tls === undefined) return createServer(limits);
  return createTlsServer({ ...limits, ...certificateOf(tls) });
}

function certificateOf({ keyPath, certificatePath }: NonNullable<PortOptions['tls']>) {
  return { key: readFileSync(keyPath), cert: readFileSync(certificatePath) };
}

function begin(
  request: IncomingMessage,
  response: ServerResponse,
  options: PortOptions,
  handle: RequestHandler,
): void {
  const { socket } = request;
  const unanswered = NodeResponse.of(socket);
  const start = () => {
    if (request.httpVersion !== '1.1') refuse(socket, '505 HTTP Version Not Supported');
    else if (request.rawHeaders.length > 2 * MAX_HEADERS) refuse(socket, REFUSALS['HPE_HEADER_OVERFLOW']);
    // Node refuses a request without a host only (RFC 9112 §3.2).
    else if ((request.headersDistinct['host']?.length ?? 0) > 1) refuse(socket);
    else handle(new NodeResponse(request, response, options), new NodeRequest(request));
  };
  if (unanswered === undefined) start();
  // The client may have read the reply before this process learns that it was sent.
  else if (unanswered.isEnding)
    setImmediate(() => (NodeResponse.of(socket) === undefined ? start() : socket.destroy()));
  // One request at a time, so that no client makes the service hold replies that it does not read, and what follows a
  // request of uncertain length is never answered.
  else socket.destroy();
}

/** Answers bytes that are no request, unless a reply has begun on this connection. */
function refuseConnection(error: Error & { readonly code?: string }, socket: Duplex): void {
  const unanswered = NodeResponse.of(socket);
  unanswered?.abort();
  const isSilent =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && 'bytesRead' in socket && socket.bytesRead === 0;
  if (isSilent || error.code === 'ECONNRESET' || unanswered?.begun === true) socket.destroy();
  else refuse(socket, REFUSALS[error.code ?? '']);
}

function refuse(socket: Duplex, status: string = NO_REQUEST): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy());
}
