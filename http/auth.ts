/**
 * Who is calling: the API key and the session cookie behind one policy.
 *
 * Source: Batch Signing Service API, "Authentication"; batch-gaps §10.
 */
import { Refusal } from '../machines/refusals.ts';
import { SecretTexts } from './secret-texts.ts';
import type { Sessions } from './sessions.ts';

export interface Identity {
  readonly operator: string;
  readonly scheme: 'ApiKey' | 'Cookie';
}

/** What a request brought along to show who it is; empty strings where it brought nothing. */
export interface Credentials {
  readonly apiKey: string;
  /** Value of the session cookie. */
  readonly session: string;
}

export interface Identified {
  readonly identity: Identity;
  /** Token that should take the place of the session's, which is half used up. */
  readonly renewed: string | undefined;
}

export interface Authenticator {
  /** Lower-case name of the header that carries the key. */
  readonly apiKeyHeader: string;
  readonly cookieName: string;
  /** Value of `WWW-Authenticate` on every 401. */
  readonly challenge: string;
  /**
   * When a request carries a key, the key alone decides.
   * Refusals: `auth.misconfigured`, `auth.invalid-credentials`.
   */
  identify(credentials: Credentials): Identified;
  /**
   * Token of a new session, for the configured key only.
   * Refusals: `auth.misconfigured`, `auth.invalid-credentials`.
   */
  logIn(apiKey: string): string;
}

const OPERATOR = 'operator';
const BY_KEY: Identified = { identity: { operator: OPERATOR, scheme: 'ApiKey' }, renewed: undefined };

/**
 * Keys are compared in constant time, and both configured keys always are, so neither length, content nor which of the
 * two matched shows in the time an answer takes.
 */
export function createAuthenticator(
  settings: {
    readonly apiKey: string;
    readonly previousApiKey: string;
    readonly apiKeyHeader: string;
    readonly cookieName: string;
  },
  sessions: Sessions,
): Authenticator {
  const configured = settings.apiKey !== '';
  const current = new SecretTexts([settings.apiKey]);
  const either = new SecretTexts([settings.apiKey, settings.previousApiKey]);
  const assertConfigured = (): void => {
    if (!configured) throw new Refusal('auth.misconfigured', 'Auth:ApiKey is empty.');
  };
  return {
    apiKeyHeader: settings.apiKeyHeader.toLowerCase(),
    cookieName: settings.cookieName,
    challenge: `ApiKey header="${settings.apiKeyHeader}"`,
    identify({ apiKey, session }) {
      assertConfigured();
      if (apiKey !== '') {
        if (!either.include(apiKey)) throw wrongKey();
        return BY_KEY;
      }
      if (session === '') {
        throw new Refusal('auth.invalid-credentials', `The header ${settings.apiKeyHeader} is missing.`);
      }
      const found = sessions.open(session);
      if (found === undefined) throw new Refusal('auth.invalid-credentials', 'The session has ended.');
      return {
        identity: { operator: found.operator, scheme: 'Cookie' },
        renewed: found.worn ? sessions.seal(found.operator) : undefined,
      };
    },
    logIn(apiKey) {
      assertConfigured();
      if (!current.include(apiKey)) throw wrongKey();
      return sessions.seal(OPERATOR);
    },
  };
}

function wrongKey(): Refusal {
  return new Refusal('auth.invalid-credentials', 'The API key is not the configured one.');
}
