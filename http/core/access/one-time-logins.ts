/**
 * Login links for one use: who starts the service opens the operator pages without copying the key.
 *
 * Source: docs/decisions/0102-login-links.md.
 */
import { hash } from 'node:crypto';
import type { Clock, Ids } from '@sealwright/runtime';

export interface OneTimeLogins {
  /** Creates a token; it is valid once, and for `ONE_TIME_LOGIN_MS`. At most `MAX_TOKENS` are valid at a time. */
  issue(): string;
  /** True for a valid token, which is used up then. */
  redeem(token: string): boolean;
}

/** Lifetime of a token, milliseconds: as long as a person needs to read the banner and follow the link. */
export const ONE_TIME_LOGIN_MS = 15 * 60_000;
const MAX_TOKENS = 10;
const TOKEN_BYTES = 32;

/** Tokens live in memory, as hashes: they end with the process. */
export function createOneTimeLogins(parts: {
  readonly clock: Pick<Clock, 'elapsed'>;
  readonly ids: Pick<Ids, 'bytes'>;
}): OneTimeLogins {
  const { clock, ids } = parts;
  /** Hash of the token → its end. The first is the oldest. */
  const ends = new Map<string, number>();
  return {
    issue() {
      const token = ids.bytes(TOKEN_BYTES).toString('base64url');
      ends.set(hash('sha256', token), clock.elapsed() + ONE_TIME_LOGIN_MS);
      const [oldest = ''] = ends.keys();
      if (ends.size > MAX_TOKENS) ends.delete(oldest);
      return token;
    },
    redeem(token) {
      const name = hash('sha256', token);
      const end = ends.get(name);
      ends.delete(name);
      return end !== undefined && clock.elapsed() < end;
    },
  };
}
