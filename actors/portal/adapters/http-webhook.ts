/**
 * Calls webhooks over HTTP. A name is resolved once for each connection, its addresses are judged, and the connection
 * goes to those that passed. Redirects are answers like any other; answers are read only as far as they are kept.
 *
 * Source: portal-gaps §19; issue 5, "Webhooks".
 */
import { lookup as systemLookup } from 'node:dns/promises';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Clock } from '../../../runtime/index.ts';
import { isPublicAddress, literalAddress } from '../webhook-addresses.ts';
import { type WebhookAnswer, type WebhookCall, type WebhookCaller, WebhookFailure } from '../webhook-port.ts';

/** An address a name resolves to. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

export interface HttpWebhookOptions {
  readonly clock: Pick<Clock, 'after' | 'now'>;
  /** `Portal:WebhookAllowPrivate`. */
  readonly allowPrivate: boolean;
  /** Milliseconds for one call in all. Source: portal-gaps §19. @default 10,000 */
  readonly timeout?: number;
  /** @default the system's resolver */
  readonly resolve?: (name: string) => Promise<readonly ResolvedAddress[]>;
}

/** Bytes of an answer that are read; enough for its first 1,000 characters. */
const READ = 4000;
const EXCERPT = 1000;
/** Idle connections are kept so long, milliseconds: bursts of events share them. */
const KEPT_IDLE = 4000;

export function createHttpWebhookCaller(options: HttpWebhookOptions): WebhookCaller {
  const { clock, timeout = 10_000, resolve = resolveAll } = options;
  const settings = { keepAlive: true, keepAliveMsecs: 1000, maxFreeSockets: 16, timeout: KEPT_IDLE };
  const agents = { http: new HttpAgent(settings), https: new HttpsAgent(settings) };
  const pinned: LookupFunction = (name, { all }, done) => {
    resolve(name)
      .then((addresses) =>
        addresses.filter(({ address }) => options.allowPrivate || isPublicAddress(address)),
      )
      .then(
        (allowed) => {
          const [first] = allowed;
          if (first === undefined) done(forbidden(name), '', 0);
          else if (all) done(null, [...allowed]);
          else done(null, first.address, first.family);
        },
        (error) => done(error, '', 0),
      );
  };
  return {
    async call(call, signal) {
      const url = new URL(call.url);
      const address = literalAddress(url);
      if (address !== undefined && !options.allowPrivate && !isPublicAddress(address))
        throw forbidden(address);
      const late = new AbortController();
      const cancel = clock.after(timeout, () => late.abort());
      const either = AbortSignal.any([signal, late.signal]);
      try {
        const response = await send(url, call, agents, pinned, either);
        return await answerOf(response, clock.now());
      } catch (error) {
        if (late.signal.aborted)
          throw new WebhookFailure('webhook.timeout', `No answer within ${timeout} milliseconds.`);
        throw failureOf(error);
      } finally {
        cancel();
      }
    },
    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

async function resolveAll(name: string): Promise<readonly ResolvedAddress[]> {
  return systemLookup(name, { all: true, verbatim: true });
}

function forbidden(name: string): WebhookFailure {
  return new WebhookFailure('webhook.address', `${name} has no address that webhooks may be sent to.`);
}

function send(
  url: URL,
  call: WebhookCall,
  agents: { readonly http: HttpAgent; readonly https: HttpsAgent },
  lookup: LookupFunction,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const secure = url.protocol === 'https:';
    const body = Buffer.from(call.body);
    const sent = (secure ? httpsRequest : httpRequest)(
      url,
      {
        method: 'POST',
        headers: { ...call.headers, 'content-length': String(body.length) },
        agent: secure ? agents.https : agents.http,
        lookup,
        signal,
        maxHeaderSize: 16_384,
      },
      resolve,
    );
    sent.on('error', (error: NodeJS.ErrnoException) => {
      // The receiver ended a kept connection at the moment it was used again; it has not seen this call.
      const stale = sent.reusedSocket && error.code === 'ECONNRESET' && !signal.aborted;
      if (stale) resolve(send(url, call, agents, lookup, signal));
      else reject(error);
    });
    sent.end(body);
  });
}

/** The status counts, whatever becomes of the body. */
async function answerOf(response: IncomingMessage, now: number): Promise<WebhookAnswer> {
  const pieces: Buffer[] = [];
  let length = 0;
  try {
    for await (const piece of response as AsyncIterable<Buffer>) {
      pieces.push(piece);
      length += piece.length;
      // Leaving the loop destroys the response, and with it the connection.
      if (length >= READ) break;
    }
  } catch {
    // Cut off in the middle of its answer, by itself or by our patience.
  }
  const text = Buffer.concat(pieces).subarray(0, READ).toString('utf8');
  return {
    status: response.statusCode ?? 0,
    excerpt: text.slice(0, EXCERPT),
    retryAfter: retryAfter(response.headers['retry-after'], now),
  };
}

/** Seconds, or a date. Source: RFC 9110 §10.2.3. */
function retryAfter(value: string | undefined, now: number): number | null {
  if (value === undefined) return null;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

function failureOf(error: unknown): WebhookFailure {
  if (error instanceof WebhookFailure) return error;
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  const reason = typeof code === 'string' ? code : String(message);
  return new WebhookFailure('webhook.unreachable', `The receiver cannot be reached: ${reason}.`);
}
