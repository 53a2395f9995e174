/** `Idempotency-Key`: a repeated request has one effect and the same reply. An addition to the specified API. */
import { createHash, type Hash, hash } from 'node:crypto';
import type { IdempotentRequests, Tenant } from '../../actors/portal/api.ts';
import { badMember } from '../../machines/portal/portal-refusals.ts';

export const IDEMPOTENCY_HEADER = 'idempotency-key';
const MAX_KEY_LENGTH = 255;

/** The idempotency key of a request; undefined when absent. Refusals: `BadRequest`. */
export function idempotencyKeyOf(header: string): string | undefined {
  if (header === '') return undefined;
  if (header.length <= MAX_KEY_LENGTH && !/\p{Cc}/u.test(header)) return header;
  throw badMember(
    'Idempotency-Key',
    `The Idempotency-Key header must be at most ${MAX_KEY_LENGTH} characters.`,
  );
}

/** Runs `make`; at most once when the client sent a key. */
export function withIdempotency<Answer>(
  requests: IdempotentRequests,
  tenant: Tenant,
  request: { readonly route: string; readonly key: string | undefined; readonly fingerprint: string },
  make: (seed?: string) => Promise<Answer>,
): Promise<Answer> {
  const { route, key, fingerprint } = request;
  return key === undefined ? make() : requests.answer(tenant, { route, key, fingerprint }, make);
}

/** Fingerprint of streamed bytes and their metadata. */
export class StreamFingerprint {
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
