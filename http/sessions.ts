/**
 * Sessions as sealed tokens: everything about a session is in its token, which only this service can read or make.
 *
 * Source: batch-gaps §10, "Lifetime", "Token" and "API-key rotation".
 */
import { createCipheriv, createDecipheriv, hash } from 'node:crypto';
import { z } from 'zod';
import type { Clock, Ids } from '../runtime/index.ts';
import type { SessionKeyRing } from './session-keys.ts';

export interface Sessions {
  /** A token for a session that begins now. */
  seal(operator: string): string;
  /**
   * The session of a token; undefined when it is forged, expired, or of another API key. `worn` once more than
   * half of its time is used: it should then be replaced by a fresh one.
   */
  open(token: string): { readonly operator: string; readonly worn: boolean } | undefined;
}

export interface SessionParts {
  readonly ring: SessionKeyRing;
  /** Length of a session in milliseconds (`Auth:SessionHours`). */
  readonly lifetime: number;
  /** Sessions end when it changes. */
  readonly apiKey: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Pick<Ids, 'bytes'>;
}

/** Layout of a token before base64url: version (1), key id (4), nonce (12), AES-256-GCM ciphertext, tag (16). */
const VERSION = 1;
const HEAD_BYTES = 5;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const TOKEN = /^[\w-]{48,1024}$/;
const CIPHER = 'aes-256-gcm';

const payloadShape = z.strictObject({
  operator: z.string(),
  issued: z.int(),
  expires: z.int(),
  apiKey: z.string(),
});
type Payload = z.infer<typeof payloadShape>;

export function createSessions({ ring, lifetime, apiKey, clock, ids }: SessionParts): Sessions {
  const fingerprint = hash('sha256', `session of\0${apiKey}`, 'buffer').toString('base64url').slice(0, 22);
  return {
    seal(operator) {
      const now = clock.now();
      const key = ring.current();
      const payload: Payload = { operator, issued: now, expires: now + lifetime, apiKey: fingerprint };
      const head = Buffer.concat([Buffer.of(VERSION), Buffer.from(key.id, 'hex')]);
      const nonce = ids.bytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key.secret, nonce).setAAD(head);
      const sealed = [cipher.update(JSON.stringify(payload), 'utf8'), cipher.final()];
      return Buffer.concat([head, nonce, ...sealed, cipher.getAuthTag()]).toString('base64url');
    },
    open(token) {
      const payload = unseal(token, ring);
      if (payload === undefined || payload.apiKey !== fingerprint) return undefined;
      // A lifetime that was shortened counts for the sessions that are under way, too.
      const expires = Math.min(payload.expires, payload.issued + lifetime);
      const left = expires - clock.now();
      if (left <= 0) return undefined;
      return { operator: payload.operator, worn: left < lifetime / 2 };
    },
  };
}

function unseal(token: string, ring: SessionKeyRing): Payload | undefined {
  if (!TOKEN.test(token)) return undefined;
  const bytes = Buffer.from(token, 'base64url');
  if (bytes.length < HEAD_BYTES + NONCE_BYTES + TAG_BYTES || bytes[0] !== VERSION) return undefined;
  const head = bytes.subarray(0, HEAD_BYTES);
  const key = ring.find(head.toString('hex', 1));
  if (key === undefined) return undefined;
  const nonce = bytes.subarray(HEAD_BYTES, HEAD_BYTES + NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, key.secret, nonce, { authTagLength: TAG_BYTES })
    .setAAD(head)
    .setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const text = Buffer.concat([
      decipher.update(bytes.subarray(HEAD_BYTES + NONCE_BYTES, -TAG_BYTES)),
      decipher.final(),
    ]);
    return payloadShape.safeParse(JSON.parse(text.toString('utf8'))).data;
  } catch {
    return undefined;
  }
}
