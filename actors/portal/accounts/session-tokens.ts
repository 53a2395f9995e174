/** Tokens in the cookies of users: the id of the user and a secret, of which the record of the user holds the digest. */
import { createHmac, hash, timingSafeEqual } from 'node:crypto';

/** Bytes of the secret. */
export const SECRET_BYTES = 32;
const TOKEN = /^([0-9a-f-]{36})\.([\w-]{43})$/;
const NOBODY = '00000000-0000-0000-0000-000000000000';

/** Parts of a cookie; those of no user for another text, so that the same work follows. */
export function parseToken(token: string): {
  readonly userId: string;
  readonly secret: string;
  readonly sha256: string;
} {
  const [, userId = NOBODY, secret = ''] = TOKEN.exec(token) ?? [];
  return { userId, secret, sha256: hash('sha256', secret) };
}

/** Compares digests, in hex, in constant time. */
export function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one, 'hex'), Buffer.from(other, 'hex'));
}

/** Token of the forms of a session. */
export function formTokenOf(secret: string): string {
  return createHmac('sha256', secret).update('form').digest('base64url');
}
