/**
 * Calls webhooks over HTTP. Redirects are answers like any other; answers are read only as far as they are kept.
 *
 * Source: docs/portal-values.md §19; docs/decisions/0019-mails-and-webhooks.md.
 */
import type { IncomingMessage } from 'node:http';
import type { Clock } from '@sealwright/runtime';
import { AddressNotAllowed, createHttpClient, type HttpClientOptions } from '@sealwright/signatures/http';
import { type WebhookCaller, WebhookFailure, type WebhookResponse } from './webhook-port.ts';

export interface HttpWebhookOptions extends Pick<HttpClientOptions, 'resolve'> {
  readonly clock: Pick<Clock, 'after' | 'now'>;
  /** `Portal:WebhookAllowPrivate`: tenants' webhooks may have addresses that are not public. */
  readonly allowPrivate: boolean;
  /** Milliseconds for one call in all. Source: docs/portal-values.md §19. @default 10,000 */
  readonly timeout?: number;
}

/** Bytes of an answer that are read; enough for its first 1,000 characters. */
const MAX_READ_BYTES = 4000;
const EXCERPT_LENGTH = 1000;
/** Milliseconds idle connections are kept: bursts of events share them. */
const IDLE_MS = 4000;

export function createHttpWebhookCaller(options: HttpWebhookOptions): WebhookCaller {
  const { clock, timeout = 10_000, resolve } = options;
  const client = createHttpClient({ idleMs: IDLE_MS, ...(resolve && { resolve }) });
  return {
    async call({ url, headers, body, fromOperator }, signal) {
      const late = new AbortController();
      const cancel = clock.after(timeout, () => late.abort());
      try {
        const response = await client.send({
          url: new URL(url),
          method: 'POST',
          headers,
          body: Buffer.from(body),
          policy: options.allowPrivate || fromOperator ? 'any' : 'public',
          repeatable: true,
          signal: AbortSignal.any([signal, late.signal]),
        });
        return await responseOf(response, clock.now());
      } catch (error) {
        if (late.signal.aborted)
          throw new WebhookFailure('webhook.timeout', `No answer within ${timeout} milliseconds.`);
        throw failureOf(error);
      } finally {
        cancel();
      }
    },
    close: () => client.close(),
  };
}

/** Reads at most `MAX_READ_BYTES` of the body, of which the delivery keeps the first `EXCERPT_LENGTH` characters. */
async function responseOf(response: IncomingMessage, now: number): Promise<WebhookResponse> {
  const pieces: Buffer[] = [];
  let length = 0;
  try {
    for await (const piece of response as AsyncIterable<Buffer>) {
      pieces.push(piece);
      length += piece.length;
      // Leaving the loop destroys the response, and with it the connection.
      if (length >= MAX_READ_BYTES) break;
    }
  } catch {
    // The connection ended before the whole body was read.
  }
  const text = Buffer.concat(pieces).subarray(0, MAX_READ_BYTES).toString('utf8');
  return {
    status: response.statusCode ?? 0,
    excerpt: text.slice(0, EXCERPT_LENGTH),
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
  if (error instanceof AddressNotAllowed)
    return new WebhookFailure(
      'webhook.address',
      `${error.host} has no address that webhooks may be sent to.`,
    );
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  const reason = typeof code === 'string' ? code : String(message);
  return new WebhookFailure('webhook.unreachable', `The receiver cannot be reached: ${reason}.`);
}
