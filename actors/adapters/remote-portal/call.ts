/** One HTTP exchange with the remote portal, and what its failures mean. Source: batch-gaps §8, failure table. */
import {
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '../../../runtime/index.ts';
import { RemoteFailure, type RemoteOperation } from '../../ports.ts';

export interface PortalAddress {
  /** `RemoteSigner:Endpoint`: scheme, host, and a path in front of all others when it has one. */
  readonly endpoint: URL;
  /** `<application>|<secret>`. */
  readonly apiKey: string;
  /** `RemoteSigner:RequestTimeoutSeconds`, in milliseconds: from the request to the first byte of its answer. */
  readonly timeout: number;
  readonly clock: Pick<Clock, 'after'>;
  readonly agent: NonNullable<RequestOptions['agent']>;
}

export interface PortalCall {
  readonly operation: RemoteOperation;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: { readonly type: string; readonly length: number; readonly content: Readable | Buffer };
}

/** An answer with status 200. */
export interface PortalAnswer {
  readonly headers: IncomingHttpHeaders;
  readonly body: AsyncIterable<Buffer>;
}

/** An answer in JSON longer than this is none of this portal's. */
const MAX_JSON = 4 << 20;

/** Statuses after which another try may help. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429]);

/** Longest pause a portal is believed to ask for, milliseconds. */
const LONGEST_PAUSE = 3_600_000;

/**
 * Sends, and hands the answer to `read` when its status is 200. The time limit covers the request and each pause of the
 * answer, not the length of a download.
 * @throws {RemoteFailure} for every way it can fail
 */
export async function call<T>(
  address: PortalAddress,
  wanted: PortalCall,
  read: (answer: PortalAnswer) => Promise<T>,
): Promise<T> {
  const { operation } = wanted;
  try {
    const response = await send(address, wanted);
    const status = response.statusCode ?? 0;
    const answer = { headers: response.headers, body: pieces(response, address) };
    if (status === 200) return await read(answer);
    const said = await bodyOf(answer.body, 2_000).catch(() => '');
    throw refused(operation, status, answer.headers['retry-after'], said);
  } catch (error) {
    if (error instanceof RemoteFailure) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new RemoteFailure(operation, `The remote portal cannot be reached (${operation}): ${reason}.`, {
      transient: true,
    });
  }
}

/** The answer as JSON. A portal that says 200 and sends something else lies once, or is none: permanent. */
export async function jsonOf(operation: RemoteOperation, { body }: PortalAnswer): Promise<unknown> {
  const text = await bodyOf(body, MAX_JSON);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw nonsense(operation);
  }
}

/** The portal answered with something that does not have the shape it must have. */
export function nonsense(operation: RemoteOperation): RemoteFailure {
  return new RemoteFailure(operation, `The remote portal's answer is not understood (${operation}).`, {
    transient: false,
  });
}

function send(address: PortalAddress, { method, path, body }: PortalCall): Promise<IncomingMessage> {
  const { endpoint, apiKey, agent, timeout, clock } = address;
  const url = new URL(endpoint.pathname.replace(/\/$/, '') + path, endpoint);
  return new Promise((resolve, reject) => {
    const sent = (url.protocol === 'https:' ? httpsRequest : httpRequest)(
      url,
      {
        method,
        agent,
        headers: {
          'x-api-key': apiKey,
          accept: 'application/json',
          ...(body && { 'content-type': body.type, 'content-length': String(body.length) }),
        },
      },
      (answer) => {
        stopWaiting();
        resolve(answer);
      },
    );
    const stopWaiting = clock.after(timeout, () =>
      sent.destroy(new Error(`no answer within ${timeout / 1000} s`)),
    );
    sent.on('error', (error) => {
      stopWaiting();
      reject(error);
    });
    if (body === undefined || Buffer.isBuffer(body.content)) sent.end(body?.content);
    else pipeline(body.content, sent).catch((error: unknown) => sent.destroy(error as Error));
  });
}

/** The pauses of an answer are limited, however long all of it takes. */
async function* pieces(
  response: IncomingMessage,
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
  } finally {
    stopWaiting();
  }
}

async function bodyOf(body: AsyncIterable<Buffer>, limit: number): Promise<string> {
  const found: Buffer[] = [];
  let length = 0;
  for await (const piece of body) {
    length += piece.length;
    // Leaving the loop destroys the answer, and with it the connection.
    if (length > limit) break;
    found.push(piece);
  }
  return Buffer.concat(found).toString('utf8');
}

function refused(
  operation: RemoteOperation,
  status: number,
  retryAfter: string | undefined,
  said: string,
): RemoteFailure {
  const transient = status >= 500 || PASSING.has(status);
  const pause = pauseOf(retryAfter);
  const firstLine = said.split('\n', 1)[0]?.slice(0, 200) ?? '';
  const because = firstLine === '' ? '' : `: ${firstLine}`;
  return new RemoteFailure(operation, `The remote portal answered ${status} (${operation})${because}`, {
    transient,
    ...(transient && pause !== undefined && { retryAfter: pause }),
  });
}

/** Whole seconds; a date is not worth a clock of the other side's. */
function pauseOf(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,6}$/.test(text.trim())) return undefined;
  return Math.min(Number(text) * 1000, LONGEST_PAUSE);
}
