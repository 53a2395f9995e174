/**
 * Signatures of webhook calls, so that receivers can tell ours from others': HMAC-SHA-256 over id, time and body.
 * Source: Standard Webhooks specification 1.0, "Webhook Signatures" (symmetric).
 */
import { createHmac } from 'node:crypto';
import type { Millis } from '../../../machines/ids.ts';

const PREFIX = 'whsec_';
/** Bytes of a secret. Source: Standard Webhooks, "Signing secret". */
const SHORTEST = 24;
const MAX_LENGTH = 64;

/** The key in a secret: `whsec_` and its Base64; undefined when it is none. */
export function parseWebhookSecret(secret: string): Buffer | undefined {
  const text = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : '';
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  const key = Buffer.from(text, 'base64');
  return key.length >= SHORTEST && key.length <= MAX_LENGTH ? key : undefined;
}

/**
 * Headers of one attempt, with a signature by each key. The time is that of the attempt, so that a retry is as fresh as a
 * first try.
 */
export function signatureHeaders(
  keys: readonly Buffer[],
  id: string,
  body: string,
  at: Millis,
): { readonly 'webhook-timestamp': string; readonly 'webhook-signature': string } {
  const timestamp = String(Math.floor(at / 1000));
  const signatures = keys.map(
    (key) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`,
  );
  return { 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}
