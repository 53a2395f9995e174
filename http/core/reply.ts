/** Replies of handlers, and the functions that write them. */

import type { Exchange } from './transport/exchange.ts';
import type { ResponseWriter } from './transport/port.ts';

export type ReplyHeaders = readonly (readonly [name: string, value: string])[];

export interface JsonReply {
  readonly kind: 'json';
  readonly status: number;
  readonly body: unknown;
  /** @default application/json; charset=utf-8 */
  readonly contentType?: string;
  /** Escapes every character beyond ASCII: some clients decode errors in the character set of their platform. */
  readonly ascii?: boolean;
  readonly headers?: ReplyHeaders;
  /** The encoded `body`, where it is already known. */
  readonly text?: string;
}

/** Status and headers without a body. */
export interface EmptyReply {
  readonly kind: 'empty';
  readonly status: number;
  readonly headers?: ReplyHeaders;
}

/** A source of bytes, read in order in chunks; an open file is one. */
export interface ByteSource {
  /** Reads up to `length` bytes at `position` into `into`, from `offset` on; 0 bytes at the end. */
  read(
    into: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }>;
  close(): Promise<void>;
}

/** An open file to send; `sendFile` closes it. */
export interface FileReply {
  readonly kind: 'file';
  readonly status: 200 | 206;
  readonly headers: ReplyHeaders;
  readonly file: ByteSource;
  /** First byte to send. */
  readonly from: number;
  /** Bytes to send. */
  readonly length: number;
}

/** A body of unknown length, sent in chunks at the pace of the client; `sendStream` ends the iterator in every case. */
export interface StreamReply {
  readonly kind: 'stream';
  readonly status: 200;
  readonly headers: ReplyHeaders;
  readonly chunks: AsyncIterable<Buffer>;
}

/** An HTML page; never stored by browsers or proxies. */
export interface PageReply {
  readonly kind: 'page';
  readonly status: number;
  readonly html: string;
  readonly headers?: ReplyHeaders;
}

/** A script, stylesheet or picture of the pages; see `asset.ts`. */
export interface AssetReply {
  readonly kind: 'asset';
  readonly status: 200;
  readonly contentType: string;
  readonly body: string | Uint8Array;
  readonly headers: ReplyHeaders;
  /** True for what a shared computer must not keep. @default false */
  readonly isConfidential?: boolean;
}

export type Reply = JsonReply | EmptyReply | FileReply | StreamReply | PageReply | AssetReply;

/** A reply that is sent in one write, so that a handler may return it without a promise. */
export type SmallReply = Exclude<Reply, FileReply | StreamReply>;

export function json(status: number, body: unknown): JsonReply {
  return { kind: 'json', status, body };
}

/** A reply that is sent repeatedly. */
export function cachedJson(status: number, body: unknown, headers: ReplyHeaders = []): JsonReply {
  const reply = { ...json(status, body), headers };
  return { ...reply, text: jsonText(reply) };
}

/** The answer to `GET /api/health`. @param runId identifies this start of the program; undefined: it is not shown */
export function healthy(runId: string | undefined): JsonReply {
  return cachedJson(200, { status: 'Healthy' }, runId === undefined ? [] : [['X-Run-Id', runId]]);
}

export function page(status: number, html: string, headers: ReplyHeaders = []): PageReply {
  return { kind: 'page', status, html, headers };
}

/** `location` in ASCII, as the header value. */
export function redirect(status: 302 | 307, location: string, headers: ReplyHeaders = []): EmptyReply {
  return { kind: 'empty', status, headers: [['Location', location], ...headers] };
}

const STATUS_LINES: { readonly [status: number]: string } = {
  200: '200 OK',
  201: '201 Created',
  202: '202 Accepted',
  204: '204 No Content',
  206: '206 Partial Content',
  302: '302 Found',
  304: '304 Not Modified',
  307: '307 Temporary Redirect',
  400: '400 Bad Request',
  401: '401 Unauthorized',
  403: '403 Forbidden',
  404: '404 Not Found',
  405: '405 Method Not Allowed',
  409: '409 Conflict',
  412: '412 Precondition Failed',
  413: '413 Content Too Large',
  415: '415 Unsupported Media Type',
  416: '416 Range Not Satisfiable',
  422: '422 Unprocessable Content',
  429: '429 Too Many Requests',
  500: '500 Internal Server Error',
  503: '503 Service Unavailable',
};

/**
 * Headers of every response that does not set them itself; an empty value omits the header.
 * Source: docs/batch-values.md §10.
 */
const ALWAYS: ReplyHeaders = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
  ['X-Frame-Options', 'DENY'],
  ['Content-Security-Policy', "default-src 'self'; frame-ancestors 'none'"],
];

const NOT_STORED = 'no-store';
/** Browsers may store assets, but revalidate each time, so a new version shows at once. */
const CLIENT_HINTS = 'no-cache';

/** Two years, the value that the preload lists of browsers require. */
const HTTPS_ONLY = '\r\nStrict-Transport-Security: max-age=63072000';

const ALWAYS_LINES = lines(ALWAYS);
const ALWAYS_NAMES: ReadonlySet<string> = new Set(ALWAYS.map(([name]) => name));
const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Header lines that follow another header. Callers pass valid values; as a second safeguard, a line end in a value
 * never starts a header.
 */
function lines(headers: ReplyHeaders): string {
  return headers.map(([name, value]) => `\r\n${name}: ${value.replace(/[\r\n\0]/g, ' ')}`).join('');
}

/** Properties of the request that the response writer uses. */
export interface ReplyContext {
  readonly requestId: string;
  readonly https: boolean;
  /** True for HEAD: sends no body. */
  readonly headOnly: boolean;
  /** True while the server is closing: the connection accepts no further request. */
  readonly lastOnConnection: boolean;
  /** A `Set-Cookie` value added to any reply: a renewed session. */
  readonly setCookie: string | undefined;
  /** Members of the body that were ignored. */
  readonly ignored: string | undefined;
}

/**
 * Writes the status line and headers. The library copies the lines of a header value unchanged, so all headers go
 * over in one call, which costs less than one call per header. `stored`: browsers may store the reply.
 */
export function writeHead(
  response: ResponseWriter,
  { status, headers }: { readonly status: number; readonly headers?: ReplyHeaders | undefined },
  context: ReplyContext,
  { contentType, stored = false }: { contentType?: string; stored?: boolean } = {},
): void {
  // The library writes 200 itself.
  if (status !== 200) response.writeStatus(STATUS_LINES[status] ?? String(status));
  let text = context.requestId;
  if (headers === undefined) {
    text += ALWAYS_LINES;
  } else {
    text += headers.some(([name]) => ALWAYS_NAMES.has(name))
      ? lines(ALWAYS.filter(([name]) => !headers.some(([own]) => own === name)))
      : ALWAYS_LINES;
    text += lines(headers.filter(([, value]) => value !== ''));
  }
  text += `\r\nCache-Control: ${stored ? CLIENT_HINTS : NOT_STORED}`;
  if (context.https) text += HTTPS_ONLY;
  if (context.setCookie !== undefined) text += `\r\nSet-Cookie: ${context.setCookie}`;
  if (context.ignored !== undefined) text += `\r\nX-Ignored-Members: ${context.ignored}`;
  if (contentType !== undefined) text += `\r\nContent-Type: ${contentType}`;
  response.writeHeader('X-Request-Id', text);
}

/**
 * Completes a response without a body. `length` is the length of the omitted body; undefined sends no length. The
 * library can write the length itself, but then waits for a body of that length.
 */
export function endHead(response: ResponseWriter, length: number | undefined, context: ReplyContext): void {
  if (context.lastOnConnection) {
    // Only `end` closes the connection; it writes a length of 0.
    response.end(undefined, true);
    return;
  }
  if (length !== undefined) response.writeHeader('Content-Length', String(length));
  response.endWithoutBody();
}

/** Writes a reply that fits into memory. */
export function sendSmall(exchange: Exchange, reply: SmallReply, context: ReplyContext): void {
  if (reply.kind === 'empty') {
    exchange.finish((response) => {
      writeHead(response, reply, context);
      // 304 has no length of its own: it represents the body that is not sent again.
      endHead(response, reply.status === 304 ? undefined : 0, context);
    });
    return;
  }
  const [contentType, body] = content(reply);
  const head = (response: ResponseWriter) =>
    writeHead(response, reply, context, {
      contentType,
      stored: reply.kind === 'asset' && reply.isConfidential !== true,
    });
  if (!context.headOnly && !context.lastOnConnection) {
    exchange.finishWith(body, head);
    return;
  }
  exchange.finish((response) => {
    head(response);
    if (context.headOnly) endHead(response, Buffer.byteLength(body), context);
    else response.end(body, context.lastOnConnection);
  });
}

/**
 * Sends the chunks of a body one after the other; memory holds one of them. Resolves when the transfer has ended.
 * Source: RFC 9112 §7.1 (chunked transfer coding).
 */
export async function sendStream(
  exchange: Exchange,
  reply: StreamReply,
  context: ReplyContext,
): Promise<void> {
  let head: ((response: ResponseWriter) => void) | undefined = (response) =>
    writeHead(response, reply, context);
  for await (const chunk of reply.chunks) {
    if (!exchange.open) return;
    if (context.headOnly) break;
    if (chunk.length === 0) continue;
    await exchange.write(chunk, head);
    head = undefined;
  }
  exchange.finish((response) => {
    head?.(response);
    if (context.headOnly) endHead(response, undefined, context);
    else response.end(undefined, context.lastOnConnection);
  });
}

function content(
  reply: JsonReply | PageReply | AssetReply,
): readonly [contentType: string, body: string | Uint8Array] {
  switch (reply.kind) {
    case 'json':
      return [reply.contentType ?? JSON_TYPE, reply.text ?? jsonText(reply)];
    case 'page':
      return ['text/html; charset=utf-8', reply.html];
    case 'asset':
      return [reply.contentType, reply.body];
  }
}

function jsonText({ body, ascii }: JsonReply): string {
  const text = JSON.stringify(body);
  return ascii === true ? asciiOf(text) : text;
}

/** The same JSON without characters beyond ASCII. */
function asciiOf(text: string): string {
  return text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
