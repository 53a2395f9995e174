/** One HTTP call to the remote portal and the classification of its failures. Source: docs/batch-values.md §8, failure table. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Clock } from '@sealwright/runtime';
import type { HttpClient } from '@sealwright/signatures/http';
import { RemoteFailure, type RemoteOperation } from './ports.ts';

export interface PortalAddress {
  /** `RemoteSigner:Endpoint`: scheme, host and optional base path. */
  readonly endpoint: URL;
  /** `<application>|<secret>`. */
  readonly apiKey: string;
  /** `RemoteSigner:RequestTimeoutSeconds`, in milliseconds: from the request to the first byte of the response. */
  readonly timeout: number;
  readonly clock: Pick<Clock, 'after'>;
  readonly client: HttpClient;
}

export interface PortalRequest {
  readonly operation: RemoteOperation;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: { readonly type: string; readonly length: number; readonly content: Readable | Buffer };
}

/** A response with status 200. */
export interface PortalResponse {
  readonly headers: IncomingHttpHeaders;
  readonly body: AsyncIterable<Buffer>;
}

/** Maximum length of a JSON response. */
const MAX_JSON = 4 << 20;

/** Statuses that permit a retry. */
const TRANSIENT_STATUSES: ReadonlySet<number> = new Set([408, 425, 429]);

/** Maximum accepted `Retry-After`, milliseconds. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/**
 * Sends a request and passes the response to `read` when its status is 200. The time limit applies to the request and
 * to each pause of the response, not to the duration of a download.
 * @throws {RemoteFailure} for all failures of the portal; other errors of `read` are passed on
 */
export async function call<T>(
  address: PortalAddress,
  wanted: PortalRequest,
  read: (answer: PortalResponse) => Promise<T>,
): Promise<T> {
  const { operation } = wanted;
  const response = await send(address, wanted).catch((error: unknown) => {
    throw unreachable(operation, error);
  });
  const status = response.statusCode ?? 0;
  const answer = { headers: response.headers, body: bodyChunks(response, operation, address) };
  if (status === 200) return read(answer);
  const body = await bodyOf(answer.body, 2_000).catch(() => '');
  throw refused(operation, status, answer.headers['retry-after'], body);
}

/** Failures before the connection is established: the request was not sent. */
const NOT_CONNECTED: ReadonlySet<unknown> = new Set(['connect', 'getaddrinfo']);

function unreachable(operation: RemoteOperation, error: unknown): RemoteFailure {
  const reason = error instanceof Error ? error.message : String(error);
  const text = `The remote portal cannot be reached (${operation}): ${reason}.`;
  return new RemoteFailure(operation, text, { transient: true, sent: !isUnconnected(error) });
}

/** True when all addresses of the host failed before a connection existed. */
function isUnconnected(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isUnconnected);
  return error instanceof Error && NOT_CONNECTED.has((error as NodeJS.ErrnoException).syscall);
}

/** Parses a JSON response. Status 200 with other content is a permanent failure. */
export async function jsonOf(operation: RemoteOperation, { body }: PortalResponse): Promise<unknown> {
  const text = await bodyOf(body, MAX_JSON);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw unreadableResponse(operation);
  }
}

/** The failure for a response of an unexpected shape. */
export function unreadableResponse(operation: RemoteOperation): RemoteFailure {
  return new RemoteFailure(operation, `The remote portal's answer is not understood (${operation}).`, {
    transient: false,
  });
}

async function send(address: PortalAddress, { method, path, body }: PortalRequest): Promise<IncomingMessage> {
  const { endpoint, apiKey, client, timeout, clock } = address;
  const late = new AbortController();
  const stopWaiting = clock.after(timeout, () =>
    late.abort(new Error(`no answer within ${timeout / 1000} s`)),
  );
  try {
    return await client.send({
      url: new URL(endpoint.pathname.replace(/\/$/, '') + path, endpoint),
      method,
      headers: {
        'x-api-key': apiKey,
        accept: 'application/json',
        ...(body && { 'content-type': body.type, 'content-length': String(body.length) }),
      },
      body: body?.content,
      policy: 'any',
      repeatable: false,
      signal: late.signal,
    });
  } finally {
    stopWaiting();
  }
}

/** Limits the pauses of a response, not its total duration. */
async function* bodyChunks(
  response: IncomingMessage,
  operation: RemoteOperation,
  { timeout, clock }: Pick<PortalAddress, 'timeout' | 'clock'>,
): AsyncGenerator<Buffer> {
  const waitForMore = () =>
    clock.after(timeout, () => response.destroy(new Error(`nothing came for ${timeout / 1000} s`)));
  let stopWaiting = waitForMore();
  try {
    for await (const piece of response as AsyncIterable<Buffer>) {
      stopWaiting();
      yield piece;
      stopWaiting = waitForMore();
    }
  } catch (error) {
    throw unreachable(operation, error);
  } finally {
    stopWaiting();
  }
}

async function bodyOf(body: AsyncIterable<Buffer>, limit: number): Promise<string> {
  const found: Buffer[] = [];
  let length = 0;
  for await (const piece of body) {
    length += piece.length;
    // Leaving the loop destroys the response and its connection.
    if (length > limit) break;
    found.push(piece);
  }
  return Buffer.concat(found).toString('utf8');
}

function refused(
  operation: RemoteOperation,
  status: number,
  retryAfter: string | undefined,
  body: string,
): RemoteFailure {
  const transient = status >= 500 || TRANSIENT_STATUSES.has(status);
  const pause = retryAfterOf(retryAfter);
  const firstLine = body.split('\n', 1)[0]?.slice(0, 200) ?? '';
  const detail = firstLine === '' ? '' : `: ${firstLine}`;
  return new RemoteFailure(operation, `The remote portal answered ${status} (${operation})${detail}`, {
    transient,
    ...(transient && pause !== undefined && { retryAfter: pause }),
  });
}

/** Parses whole seconds; ignores dates, which depend on the other clock. */
function retryAfterOf(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,6}$/.test(text.trim())) return undefined;
  return Math.min(Number(text) * 1000, MAX_RETRY_AFTER_MS);
}
