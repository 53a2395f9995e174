/**
 * One attempt to deliver one event to one webhook. Source: docs/portal-values.md §19; Standard Webhooks specification
 * 1.0.
 */

import { type Clock, describeFailure } from '@sealwright/runtime/core';
import type { AttemptedMessage } from '../../../machines/delivery-queue.ts';
import type { WebhookCaller } from './webhook-port.ts';
import { parseWebhookSecret, signatureHeaders } from './webhook-signature.ts';

/** A webhook as it is called, with its secrets decrypted. */
export interface WebhookEndpoint {
  readonly url: string;
  readonly authType: 'NoAuth' | 'Basic' | 'Bearer' | 'ApiKey';
  readonly token: string | null;
  /** `whsec_…`; null = calls are not signed. */
  readonly secret: string | null;
  /** The secret before it, which signs too while receivers change over. */
  readonly previousSecret?: string | null | undefined;
  /** An operator configured the URL, so that its address need not be public. */
  readonly fromOperator: boolean;
}

export interface AttemptedEvent {
  readonly id: string;
  readonly sequence: number;
  readonly body: string;
}

export interface AttemptOptions {
  readonly caller: WebhookCaller;
  readonly clock: Pick<Clock, 'now' | 'elapsed'>;
  readonly signal: AbortSignal;
}

/** Outcome `gone`: the receiver answered 410. */
export type AttemptResult = Omit<AttemptedMessage, 'type' | 'id'>;

/** Time limit of the effect around an attempt, milliseconds: several times that of the call, ten seconds. */
export const WEBHOOK_TIME_LIMIT_MS = 60_000;

/** HTTP 410 Gone. Source: Standard Webhooks, "Disabling endpoints". */
const GONE = 410;

/** Rejects only when `signal` is aborted. */
export async function attemptWebhook(
  webhook: WebhookEndpoint,
  event: AttemptedEvent,
  { caller, clock, signal }: AttemptOptions,
): Promise<AttemptResult> {
  const at = clock.now();
  const startedAt = clock.elapsed();
  const facts = () => ({ at, url: webhook.url, ms: Math.round(clock.elapsed() - startedAt) });
  try {
    const headers = headersOf(webhook, event, at);
    const { url, fromOperator } = webhook;
    const answer = await caller.call({ url, fromOperator, headers, body: event.body }, signal);
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

/** The outcome of a delivery for which no call was made. */
export function notAttempted(
  id: string,
  outcome: AttemptedMessage['outcome'],
  error: string,
  at: number,
): AttemptedMessage {
  const attempt = { at, url: '', status: null, ms: 0, error, response: null };
  return { type: 'ATTEMPTED', id, outcome, attempt, retryAfter: null };
}

/** Adds id and sequence to each call, by which a receiver recognises repeated deliveries. */
function headersOf(webhook: WebhookEndpoint, event: AttemptedEvent, at: number): Record<string, string> {
  const keys = [webhook.secret, webhook.previousSecret].flatMap(
    (secret) => (secret && parseWebhookSecret(secret)) || [],
  );
  return {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'sealwright',
    ...authHeader(webhook),
    'webhook-id': event.id,
    'webhook-sequence': String(event.sequence),
    ...(keys.length > 0 && signatureHeaders(keys, event.id, event.body, at)),
  };
}

function authHeader({ authType, token }: WebhookEndpoint): Record<string, string> {
  if (token === null || authType === 'NoAuth') return {};
  return authType === 'ApiKey' ? { 'x-api-key': token } : { authorization: `${authType} ${token}` };
}
