/**
 * What a handler answers, and how it is written.
 */
import type { Exchange } from './exchange.ts';
import type { UwsResponse } from './uws.ts';

export type ReplyHeaders = readonly (readonly [name: string, value: string])[];

export interface JsonReply {
  readonly kind: 'json';
  readonly status: number;
  readonly body: unknown;
  /** @default application/json; charset=utf-8 */
  readonly contentType?: string;
  /** Everything beyond ASCII is escaped: some clients read errors in the character set of their platform. */
  readonly ascii?: boolean;
  readonly headers?: ReplyHeaders;
  /** `body` as it is sent, where that is known. */
  readonly text?: string;
}

/** Status and headers, no body. */
export interface EmptyReply {
  readonly kind: 'empty';
  readonly status: number;
  readonly headers?: ReplyHeaders;
}

/** Bytes that are read piece by piece, in order; an open file is one. */
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

/** A file, opened and ready to be sent; `sendFile` closes it. */
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

/** An HTML page; never stored by browsers or proxies. */
export interface PageReply {
  readonly kind: 'page';
  readonly status: number;
  readonly html: string;
  readonly headers?: ReplyHeaders;
}

/** A script, stylesheet or picture of our own pages; see `asset.ts`. */
export interface AssetReply {
  readonly kind: 'asset';
  readonly status: 200;
  readonly contentType: string;
  readonly body: string | Uint8Array;
  readonly headers: ReplyHeaders;
}

export type Reply = JsonReply | EmptyReply | FileReply | PageReply | AssetReply;

export function json(status: number, body: unknown): JsonReply {
  return { kind: 'json', status, body };
}

/** For an answer that is given again and again. */
export function keptJson(status: number, body: unknown): JsonReply {
  const reply = json(status, body);
  return { ...reply, text: jsonText(reply) };
}

export function page(status: number, html: string, headers: ReplyHeaders = []): PageReply {
  return { kind: 'page', status, html, headers };
}

/** `location` in ASCII, as it goes into the header. */
export function redirect(status: 302 | 307, location: string, headers: ReplyHeaders = []): EmptyReply {
  return { kind: 'empty', status, headers: [['Location', location], ...headers] };
}

const STATUS_LINES: { readonly [status: number]: string } = {
  200: '200 OK',
  202: '202 Accepted',
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
  413: '413 Content Too Large',
  415: '415 Unsupported Media Type',
  416: '416 Range Not Satisfiable',
  422: '422 Unprocessable Content',
  429: '429 Too Many Requests',
  500: '500 Internal Server Error',
  503: '503 Service Unavailable',
};

/**
 * On every response that does not set them itself; set to nothing, they are left out.
 * Source: batch-gaps §10, "Response headers".
 */
const ALWAYS: ReplyHeaders = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
  ['X-Frame-Options', 'DENY'],
  ['Content-Security-Policy', "default-src 'self'; frame-ancestors 'none'"],
];

const NOT_STORED = 'no-store';
/** Assets may be kept, and are asked about each time: a new version shows at once. */
const ASKED_ABOUT = 'no-cache';

/** Two years, as browsers' preload lists ask. */
const HTTPS_ONLY = '\r\nStrict-Transport-Security: max-age=63072000';

const ALWAYS_LINES = lines(ALWAYS);
const ALWAYS_NAMES: ReadonlySet<string> = new Set(ALWAYS.map(([name]) => name));
const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Header lines that follow another one. Whoever sets a header sees to what is in it; should somebody forget, a line
 * end in a value still begins no header of its own.
 */
function lines(headers: ReplyHeaders): string {
  return headers.map(([name, value]) => `\r\n${name}: ${value.replace(/[\r\n\0]/g, ' ')}`).join('');
}

/** What the response writer needs to know about the request. */
export interface ReplyScene {
  readonly requestId: string;
  readonly https: boolean;
  /** True for HEAD: everything but the body. */
  readonly headOnly: boolean;
  /** True while the server is closing: no further request on this connection. */
  readonly lastOnConnection: boolean;
  /** A `Set-Cookie` that goes along with whatever is answered: a session that was prolonged. */
  readonly setCookie: string | undefined;
}

/**
 * Status line and headers. The library takes the lines of a header's value as they are, so all headers go over in one
 * call, which costs less than writing each of them. `stored` is whether browsers may keep the answer.
 */
export function writeHead(
  response: UwsResponse,
  status: number,
  headers: ReplyHeaders | undefined,
  scene: ReplyScene,
  { contentType, stored = false }: { readonly contentType?: string; readonly stored?: boolean } = {},
): void {
  // The library writes 200 by itself.
  if (status !== 200) response.writeStatus(STATUS_LINES[status] ?? String(status));
  let text = scene.requestId;
  if (headers === undefined) {
    text += ALWAYS_LINES;
  } else {
    text += headers.some(([name]) => ALWAYS_NAMES.has(name))
      ? lines(ALWAYS.filter(([name]) => !headers.some(([own]) => own === name)))
      : ALWAYS_LINES;
    text += lines(headers.filter(([, value]) => value !== ''));
  }
  text += `\r\nCache-Control: ${stored ? ASKED_ABOUT : NOT_STORED}`;
  if (scene.https) text += HTTPS_ONLY;
  if (scene.setCookie !== undefined) text += `\r\nSet-Cookie: ${scene.setCookie}`;
  if (contentType !== undefined) text += `\r\nContent-Type: ${contentType}`;
  response.writeHeader('X-Request-Id', text);
}

/**
 * Completes a response that has a head only. `length` is what the body would have been; undefined names none.
 * The library can write the length itself, but then waits for a body of that length.
 */
export function endHead(response: UwsResponse, length: number | undefined, scene: ReplyScene): void {
  if (length !== undefined) response.writeHeader('Content-Length', String(length));
  if (scene.lastOnConnection) response.writeHeader('Connection', 'close');
  response.endWithoutBody();
}

/** Writes an answer that fits into memory. */
export function sendSmall(exchange: Exchange, reply: Exclude<Reply, FileReply>, scene: ReplyScene): void {
  if (reply.kind === 'empty') {
    exchange.finish((response) => {
      writeHead(response, reply.status, reply.headers, scene);
      // 304 has no length of its own: it stands for the body that is not sent again.
      endHead(response, reply.status === 304 ? undefined : 0, scene);
    });
    return;
  }
  const [contentType, body] = content(reply);
  exchange.finish((response) => {
    writeHead(response, reply.status, reply.headers, scene, { contentType, stored: reply.kind === 'asset' });
    if (scene.headOnly) endHead(response, Buffer.byteLength(body), scene);
    else response.end(body, scene.lastOnConnection);
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
