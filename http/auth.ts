/**
 * Who is calling.
 *
 * Source: Batch Signing Service API, "Authentication"; batch-gaps §10.
 */
import { hash, timingSafeEqual } from 'node:crypto';
import { Refusal } from '../machines/refusals.ts';

export interface Identity {
  readonly operator: string;
  readonly scheme: 'ApiKey' | 'Cookie';
}

/** What a request brought along to show who it is; empty strings where it brought nothing. */
export interface Credentials {
  readonly apiKey: string;
}

export interface Authenticator {
  /** Lower-case name of the header that carries the key. */
  readonly apiKeyHeader: string;
  /** Value of `WWW-Authenticate` on every 401. */
  readonly challenge: string;
  /** Refusals: `auth.misconfigured`, `auth.invalid-credentials`. */
  identify(credentials: Credentials): Identity;
}

/**
 * The API-key scheme. Keys are compared as SHA-256 digests in constant time, and both configured keys always
 * are, so neither length, content nor which of the two matched shows in the time an answer takes.
 *
 * A second scheme (the session cookie) belongs in `identify`, behind the key: when a request carries a key, the
 * key alone decides.
 */
export function createAuthenticator(settings: {
  readonly apiKey: string;
  readonly previousApiKey: string;
  readonly apiKeyHeader: string;
}): Authenticator {
  const configured = settings.apiKey !== '';
  const current = digest(settings.apiKey);
  const previous = digest(settings.previousApiKey === '' ? settings.apiKey : settings.previousApiKey);
  return {
    apiKeyHeader: settings.apiKeyHeader.toLowerCase(),
    challenge: `ApiKey header="${settings.apiKeyHeader}"`,
    identify({ apiKey }) {
      if (!configured) throw new Refusal('auth.misconfigured', 'Auth:ApiKey is empty.');
      if (apiKey === '') {
        throw new Refusal('auth.invalid-credentials', `The header ${settings.apiKeyHeader} is missing.`);
      }
      const given = digest(apiKey);
      const isCurrent = timingSafeEqual(given, current);
      const isPrevious = timingSafeEqual(given, previous);
      if (!isCurrent && !isPrevious) {
        throw new Refusal('auth.invalid-credentials', 'The API key is not the configured one.');
      }
      return { operator: 'operator', scheme: 'ApiKey' };
    },
  };
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
