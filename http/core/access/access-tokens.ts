/**
 * Access tokens of OAuth 2.0 issuers. Their keys are kept: while an issuer does not answer, tokens of known keys are
 * accepted.
 *
 * Source: RFC 9068; RFC 8725 for the algorithms; docs/decisions/0277-scopes-and-roles-of-operators.md.
 */
import type { Clock, Log } from '@sealwright/runtime';
import type { JWTVerifyGetKey } from 'jose';
import { z } from 'zod';
import { createHttpClient } from '../../../actors/index.ts';

/** One entry of `Identity:Tokens`. */
export interface TokenRule {
  readonly issuer: string;
  readonly audience: string;
  /** Organization of the portal. Absent: the batch service. */
  readonly organization?: string | undefined;
  readonly rights: readonly { readonly scope: string; readonly right: string }[];
}

export interface VerifiedToken {
  readonly rule: TokenRule;
  readonly issuer: string;
  readonly clientId: string;
  /** For whom the client acts; the client itself where nobody has signed in. */
  readonly subject: string;
  /** Scopes of the token. */
  readonly scopes: readonly string[];
  /** Milliseconds since the epoch. What a token gives does not outlive it. */
  readonly expiresAt: number;
}

/** Asymmetric algorithms: a public key can be no secret of an HMAC. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const MAX_TOKEN = 16_384;
/** Age of keys after which they are read anew, and least time between two reads, milliseconds. */
const FRESH_MS = 600_000;
const PAUSE_MS = 15_000;
const TIMEOUT_MS = 5_000;
const MAX_ANSWER_BYTES = 262_144;
/** Difference of clocks, seconds. */
const TOLERANCE_SECONDS = 30;
/** The last time that our answers can write: tokens may end later. */
const LAST_TIME = Date.parse('9999-12-31T23:59:59.999Z');
/** Metadata of an issuer: OpenID Connect Discovery 1.0 §4, then RFC 8414 §3. */
const METADATA = ['.well-known/openid-configuration', '.well-known/oauth-authorization-server'];

/** A token of `Authorization: Bearer` (RFC 6750 §2.1); undefined: the header has none. */
export function bearerToken(header: string): string | undefined {
  return /^Bearer +([\w.~+/-]+=*)$/i.exec(header)?.[1];
}

/** Names appear in events and the log. */
const shortText = z.string().regex(/^[\x21-\x7e]{1,200}$/);
const claimsShape = z.looseObject({
  client_id: shortText,
  sub: shortText,
  scope: z.string().default(''),
  exp: z.number(),
});
const metadataShape = z.looseObject({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https?$/ }) });
const keySetShape = z.looseObject({ keys: z.array(z.looseObject({ kty: z.string() })).max(100) });

type Parts = { readonly clock: Pick<Clock, 'now' | 'elapsed' | 'after'>; readonly log: Log };

/** Resolves with the token; undefined for one that no rule accepts. */
export type TokenCheck = (token: string) => Promise<VerifiedToken | undefined>;

export function createTokenCheck(rules: readonly TokenRule[], parts: Parts): TokenCheck {
  const keys = new Map(rules.map(({ issuer }) => [issuer, new IssuerKeys(issuer, parts)]));
  return async (token) => {
    if (token.length > MAX_TOKEN) return undefined;
    const { decodeJwt, jwtVerify } = await import('jose');
    try {
      // Read before it is verified, to find the rule alone.
      const { iss, aud } = decodeJwt(token);
      const rule = rules.find(({ issuer, audience }) => issuer === iss && [aud].flat().includes(audience));
      const issuerKeys = rule && keys.get(rule.issuer);
      if (rule === undefined || issuerKeys === undefined) return undefined;
      const { payload } = await jwtVerify(token, issuerKeys.find, {
        issuer: rule.issuer,
        audience: rule.audience,
        typ: 'at+jwt',
        algorithms: ALGORITHMS,
        requiredClaims: ['exp', 'iat', 'sub', 'client_id'],
        clockTolerance: TOLERANCE_SECONDS,
        currentDate: new Date(parts.clock.now()),
      });
      const { client_id: clientId, sub: subject, scope, exp } = claimsShape.parse(payload);
      const scopes = scope.split(' ').filter(Boolean);
      const expiresAt = Math.min(Math.trunc(exp * 1000), LAST_TIME);
      return { rule, issuer: rule.issuer, clientId, subject, scopes, expiresAt };
    } catch (error) {
      const { code = '' } = error as { readonly code?: string };
      if (code.startsWith('ERR_J') || error instanceof z.ZodError) return undefined;
      throw error;
    }
  };
}

/** Those of `all` that the scopes of a token give. */
export function rightsOf<Right extends string>(
  { rule, scopes }: VerifiedToken,
  all: readonly Right[],
): readonly Right[] {
  const given = rule.rights
    .filter(({ scope }) => scopes.includes(scope))
    .map(({ right }) => right.toLowerCase());
  return all.filter((right) => given.includes(right.toLowerCase()));
}

/** Key set of an issuer. Tokens with unknown keys start at most one read in `PAUSE_MS`. */
class IssuerKeys {
  #find: JWTVerifyGetKey | undefined;
  #loading: Promise<void> | undefined;
  #triedAt = Number.NEGATIVE_INFINITY;
  #loadedAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly issuer: string,
    private readonly parts: Parts,
  ) {}

  readonly find: JWTVerifyGetKey = async (header, token) => {
    const { errors } = await import('jose');
    if (this.#find === undefined) await this.#refresh();
    // The present keys serve meanwhile.
    else if (this.parts.clock.elapsed() - this.#loadedAt >= FRESH_MS) void this.#refresh();
    try {
      return await this.#known(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || !(await this.#refresh())) throw error;
      return this.#known(header, token);
    }
  };

  async #known(...given: Parameters<JWTVerifyGetKey>) {
    const { errors } = await import('jose');
    if (this.#find === undefined) throw new errors.JWKSNoMatchingKey();
    return this.#find(...given);
  }

  /** Resolves with true when the keys were read, false when it is too early, or the issuer does not answer. */
  async #refresh(): Promise<boolean> {
    const before = this.#loadedAt;
    if (this.#loading === undefined) {
      const now = this.parts.clock.elapsed();
      if (now - this.#triedAt < PAUSE_MS) return false;
      this.#triedAt = now;
      this.#loading = this.#load().finally(() => {
        this.#loading = undefined;
      });
    }
    await this.#loading;
    return this.#loadedAt !== before;
  }

  /** Never rejects. */
  async #load(): Promise<void> {
    const { clock, log } = this.parts;
    try {
      const { createLocalJWKSet } = await import('jose');
      const { jwks_uri } = await this.#metadata();
      const set = keySetShape.parse(await getJson(new URL(jwks_uri), clock));
      this.#find = createLocalJWKSet(set as Parameters<typeof createLocalJWKSet>[0]);
      this.#loadedAt = clock.elapsed();
    } catch (error) {
      log.warn(
        'The keys of an issuer of access tokens cannot be read. Tokens of the keys that are known are accepted.',
        {
          Issuer: this.issuer,
          Error: String(error),
        },
      );
    }
  }

  async #metadata(): Promise<z.infer<typeof metadataShape>> {
    const base = this.issuer.endsWith('/') ? this.issuer : `${this.issuer}/`;
    let fault: unknown;
    for (const path of METADATA) {
      try {
        const found = metadataShape.parse(await getJson(new URL(path, base), this.parts.clock));
        if (found.issuer !== this.issuer) throw new Error(`the metadata is that of ${found.issuer}`);
        if (this.issuer.startsWith('https:') && !found.jwks_uri.startsWith('https:'))
          throw new Error('the address of its keys is not https');
        return found;
      } catch (error) {
        fault = error;
      }
    }
    throw fault;
  }
}

/** Reads a JSON document of the configured issuer, in bounded time and memory. */
async function getJson(url: URL, clock: Pick<Clock, 'after'>): Promise<unknown> {
  const client = createHttpClient({ idleConnections: 0 });
  const timeout = new AbortController();
  const cancel = clock.after(TIMEOUT_MS, () => timeout.abort(new Error(`no answer within ${TIMEOUT_MS} ms`)));
  try {
    const { signal } = timeout;
    const headers = { accept: 'application/json' };
    const response = await client.send({
      url,
      method: 'GET',
      headers,
      body: undefined,
      policy: 'any',
      repeatable: true,
      signal,
    });
    if (response.statusCode !== 200) throw new Error(`${url.href} answers ${response.statusCode}`);
    const pieces: Buffer[] = [];
    let length = 0;
    for await (const piece of response) {
      length += piece.length;
      if (length > MAX_ANSWER_BYTES) throw new Error(`${url.href} answers too much`);
      pieces.push(piece);
    }
    return JSON.parse(Buffer.concat(pieces).toString('utf8'));
  } finally {
    cancel();
    client.close();
  }
}
