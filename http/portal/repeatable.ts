/**
 * `Idempotency-Key`: the same request again is given the same answer and happens once. Ours.
 */
import { createHash, type Hash, hash } from 'node:crypto';
import type { IdempotentRequests, Tenant } from '../../actors/portal/api.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';

export const REPEAT_HEADER = 'idempotency-key';
const LONGEST_KEY = 255;

/** What a request says of being sent again; undefined when it says nothing. Refusals: `BadRequest`. */
export function repeatKey(header: string): string | undefined {
  if (header === '') return undefined;
  if (header.length <= LONGEST_KEY && !/\p{Cc}/u.test(header)) return header;
  const sentence = `The Idempotency-Key header must be at most ${LONGEST_KEY} characters.`;
  throw new PortalRefusal('BadRequest', sentence, { errors: { 'Idempotency-Key': [sentence] } });
}

/** Does `make`; at most once where the client gave the request a key. */
export function repeatable<Answer>(
  requests: IdempotentRequests,
  tenant: Tenant,
  request: { readonly route: string; readonly key: string | undefined; readonly fingerprint: string },
  make: (seed?: string) => Promise<Answer>,
): Promise<Answer> {
  const { route, key, fingerprint } = request;
  return key === undefined ? make() : requests.answer(tenant, { route, key, fingerprint }, make);
}

/** Of a request that was read whole. */
export function fingerprintOf(body: unknown): string {
  return hash('sha256', JSON.stringify(body));
}

/** Of bytes that pass by and what is said of them. */
export class PassingFingerprint {
  #hash: Hash = createHash('sha256');

  update(bytes: Buffer): void {
    this.#hash.update(bytes);
  }

  restart(): void {
    this.#hash = createHash('sha256');
  }

  finish(...words: readonly string[]): string {
    return hash('sha256', JSON.stringify([this.#hash.digest('hex'), ...words]));
  }
}
