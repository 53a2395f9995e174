/**
 * Authentication by API key or session cookie.
 *
 * Source: docs/batch-values.md §0, §10.
 */

import { hash, timingSafeEqual } from 'node:crypto';
import { type AccessScope, type OperatorRole, ROLE_SCOPES } from '../../../contracts/batch/access.ts';
import { Refusal } from '../../../machines/refusals.ts';
import type { TokenRule } from './access-tokens.ts';
import type { NamedKeys, UsedKey } from './named-keys.ts';
import type { OneTimeLogins } from './one-time-logins.ts';
import type { SessionPerson, Sessions } from './sessions.ts';

/** Maximum length of a text that is compared padded; ASCII only. */
const USUAL = 127;
/** Buffer reused for each comparison. */
const padded = Buffer.alloc(1 + USUAL);

/**
 * Constant-time comparison with a set of secrets. The duration depends on the given text only: texts of usual length
 * are padded to one length, which is cheap, others are compared by SHA-256 digest; always with all secrets.
 */
class SecretTexts {
  readonly #padded: readonly Buffer[];
  readonly #digests: readonly Buffer[];

  /** @param texts empty texts match nothing */
  constructor(texts: readonly string[]) {
    const secrets = texts.filter((text) => text !== '');
    // All zeros, which equals no text, in place of a text that is never compared padded.
    this.#padded = secrets.map((text) => (pad(text) ? Buffer.from(padded) : Buffer.alloc(1 + USUAL)));
    this.#digests = secrets.map(digest);
  }

  includes(given: string): boolean {
    if (given === '') return false;
    return pad(given) ? equalsAny(padded, this.#padded) : equalsAny(digest(given), this.#digests);
  }
}

function equalsAny(given: Buffer, secrets: readonly Buffer[]): boolean {
  let equal = false;
  for (const secret of secrets) if (timingSafeEqual(given, secret)) equal = true;
  return equal;
}

/** Writes length, text and zeros into `padded`; false for a longer text or one beyond ASCII. */
function pad(text: string): boolean {
  const { length } = text;
  if (length > USUAL) return false;
  padded[0] = length;
  let all = 0;
  for (let at = 0; at < USUAL; at += 1) {
    const code = at < length ? text.charCodeAt(at) : 0;
    padded[at + 1] = code;
    all |= code;
  }
  return all < 0x80;
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

/** Name and rights of a caller. */
export interface Identity {
  /** Name in events, histories and the log: `operator` for the configured key, `key:<name>` for a named one. */
  readonly operator: string;
  readonly scheme: 'ApiKey' | 'Cookie' | 'Bearer';
  /** Role that the groups of the identity provider give. Absent for keys, and sessions that the configured key began. */
  readonly role?: OperatorRole;
  /** Absent: all. */
  readonly scopes?: readonly AccessScope[];
  /** Profiles and input folders whose jobs it reaches. Absent: all. */
  readonly profiles?: readonly string[];
  readonly folders?: readonly string[];
  /** Time at which its key ends. Absent: it does not. */
  readonly expiresAt?: number;
  /** Rights that scopes of the issuer of its access token give. Absent: it has none. */
  readonly tokenRights?: TokenRule['rights'];
}

/** Credentials of a request; empty strings when absent. */
interface Credentials {
  readonly apiKey: string;
  /** Value of the session cookie. */
  readonly session: string;
}

interface Identified {
  readonly identity: Identity;
  /** New token for a session whose token is past half of its lifetime. */
  readonly renewed: string | undefined;
  /** The named key. */
  readonly key?: UsedKey;
}

export interface Authenticator {
  /** Lower-case name of the header that carries the key. */
  readonly apiKeyHeader: string;
  readonly cookieName: string;
  /** Value of `WWW-Authenticate` on every 401. */
  readonly challenge: string;
  /**
   * Authenticates a request; when it carries a key, only the key counts.
   * Refusals: `auth.misconfigured`, `auth.invalid-credentials`.
   */
  identify(credentials: Credentials): Identified;
  /**
   * Creates the token of a new session, for the configured key only.
   * Refusals: `auth.misconfigured`, `auth.invalid-credentials`.
   */
  logIn(apiKey: string): string;
  /**
   * Creates the token of a new session for the token of a login link, which is used up.
   * Refusals: `auth.misconfigured`, `auth.invalid-credentials`.
   */
  logInOnce(token: string): string;
  /**
   * Creates the token of a new session of a person whom an identity provider has signed in.
   * Refusals: `auth.misconfigured`.
   * @param operator name of the person in events
   */
  logInPerson(operator: string, person: SessionPerson): string;
  /** Ends sessions of a person, or of one session at the provider, that began before now. @param key as in `SessionPerson` */
  endPerson(key: string): Promise<void>;
  /** Ends the session of a cookie, with every copy of its token. @returns its operator; undefined for no session */
  logOut(session: string): Promise<string | undefined>;
}

/** Operator of the API key. */
export const OPERATOR = 'operator';
const BY_KEY: Identified = { identity: { operator: OPERATOR, scheme: 'ApiKey' }, renewed: undefined };

/**
 * Compares keys in constant time, always with both configured keys, so the response time reveals neither length,
 * content nor the matching key.
 */
export function createAuthenticator(
  settings: {
    readonly apiKey: string;
    readonly previousApiKey: string;
    readonly apiKeyHeader: string;
    readonly cookieName: string;
  },
  sessions: Sessions,
  oneTimeLogins: Pick<OneTimeLogins, 'redeem'>,
  namedKeys?: Pick<NamedKeys, 'use'>,
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
        if (either.includes(apiKey)) return BY_KEY;
        const key = namedKeys?.use(apiKey);
        if (key === undefined) throw wrongKey();
        return { identity: identityOf(key), renewed: undefined, key };
      }
      if (session === '') {
        throw new Refusal('auth.invalid-credentials', `The header ${settings.apiKeyHeader} is missing.`);
      }
      const found = sessions.read(session);
      if (found === undefined) throw new Refusal('auth.invalid-credentials', 'The session has ended.');
      const { operator, person } = found;
      return {
        identity: {
          operator,
          scheme: 'Cookie',
          ...(person !== undefined && { role: person.role, scopes: ROLE_SCOPES[person.role] }),
        },
        renewed: found.worn ? sessions.issue(operator, found.id, person) : undefined,
      };
    },
    logIn(apiKey) {
      assertConfigured();
      if (!current.includes(apiKey)) throw wrongKey();
      return sessions.issue(OPERATOR);
    },
    logInOnce(token) {
      assertConfigured();
      if (!oneTimeLogins.redeem(token))
        throw new Refusal('auth.invalid-credentials', 'The login link was used, or its time is over.');
      return sessions.issue(OPERATOR);
    },
    logInPerson(operator, person) {
      assertConfigured();
      return sessions.issue(operator, undefined, person);
    },
    endPerson: (key) => sessions.endPerson(key),
    async logOut(session) {
      return session === '' ? undefined : sessions.end(session);
    },
  };
}

function identityOf({ name, scopes, profiles, folders, expiresAt }: UsedKey): Identity {
  return {
    operator: `key:${name}`,
    scheme: 'ApiKey',
    scopes,
    ...(profiles && { profiles }),
    ...(folders && { folders }),
    ...(expiresAt !== null && { expiresAt }),
  };
}

function wrongKey(): Refusal {
  return new Refusal('auth.invalid-credentials', 'The API key is not the configured one.');
}
