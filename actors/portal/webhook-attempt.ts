/** One attempt to deliver one event to one webhook. Source: portal-gaps §19; Standard Webhooks specification 1.0. */
import type { Attempt } from '../../machines/webhook.ts';
import { type Clock, describeFailure } from '../../runtime/index.ts';
import type { WebhookCaller } from './webhook-port.ts';
import { parseWebhookSecret, signatureHeaders } from './webhook-signature.ts';
import type { OpenWebhook } from './webhooks.ts';

export interface AttemptedEvent {
  readonly id: string;
  readonly sequence: number;
  readonly body: string;
}

export interface AttemptParts {
  readonly caller: WebhookCaller;
  readonly clock: Pick<Clock, 'now' | 'elapsed'>;
  readonly signal: AbortSignal;
}

export interface AttemptResult {
  readonly attempt: Attempt;
  /** `gone`: the receiver says that it wants nothing any more (410). */
  readonly outcome: 'delivered' | 'failed' | 'gone';
  readonly retryAfter: number | null;
}

/** HTTP 410 Gone. Source: Standard Webhooks, "Disabling endpoints". */
const GONE = 410;

/** Rejects only when `signal` is aborted. */
export async function attemptWebhook(
  webhook: OpenWebhook,
  event: AttemptedEvent,
  { caller, clock, signal }: AttemptParts,
): Promise<AttemptResult> {
  const at = clock.now();
  const begun = clock.elapsed();
  const facts = () => ({ at, url: webhook.url, ms: Math.round(clock.elapsed() - begun) });
  try {
    const headers = headersOf(webhook, event, at);
    const answer = await caller.call({ url: webhook.url, headers, body: event.body }, signal);
    const { status, excerpt, retryAfter } = answer;
    const isTaken = status >= 200 && status < 300;
    return {
      attempt: {
        ...facts(),
        status,
        error: isTaken ? null : `The receiver answered with HTTP status ${status}.`,
        response: excerpt,
      },
      outcome: isTaken ? 'delivered' : status === GONE ? 'gone' : 'failed',
      retryAfter,
    };
  } catch (error) {
    if (signal.aborted) throw error;
    const { code, message } = describeFailure(error);
    return {
      attempt: { ...facts(), status: null, error: `${code}: ${message}`, response: null },
      outcome: 'failed',
      retryAfter: null,
    };
  }
}

/** The id and the sequence go out with every call: what is delivered at least once is told apart by them. */
function headersOf(webhook: OpenWebhook, event: AttemptedEvent, at: number): Record<string, string> {
  const key = webhook.secret === null ? undefined : parseWebhookSecret(webhook.secret);
  return {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'sealwright',
    ...authHeader(webhook),
    'webhook-id': event.id,
    'webhook-sequence': String(event.sequence),
    ...(key !== undefined && signatureHeaders(key, event.id, event.body, at)),
  };
}

function authHeader({ authType, token }: OpenWebhook): Record<string, string> {
  if (token === null || authType === 'NoAuth') return {};
  return authType === 'ApiKey' ? { 'x-api-key': token } : { authorization: `${authType} ${token}` };
}
