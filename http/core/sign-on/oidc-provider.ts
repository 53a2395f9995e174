/**
 * An OpenID provider at which people sign in: code flow with PKCE, state and nonce, and both logouts. `openid-client` and
 * `jose` do the protocol; they are loaded at first use.
 *
 * Source: OpenID Connect Core 1.0; Discovery 1.0; RP-Initiated Logout 1.0; Back-Channel Logout 1.0; RFC 7636; RFC 9207;
 * docs/decisions/0276-single-sign-on.md.
 */
import type { Clock, Log } from '@sealwright/runtime';
import type { JWTVerifyGetKey } from 'jose';
import type { ClientAuth, Configuration } from 'openid-client';
import { z } from 'zod';
import {
  type FlowSecrets,
  MAX_GROUPS,
  MAX_TEXT,
  type ProviderPerson,
  SignInFailure,
  shortText,
} from './provider.ts';

export interface ProviderOptions {
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scopes: readonly string[];
  readonly groupsClaim: string;
}

/** Seconds for one answer of the provider. */
const TIMEOUT_SECONDS = 10;
/** Time after which the metadata is read anew, and after a failure. */
const FRESH_MS = 3_600_000;
const RETRY_MS = 15_000;
/** Time between two readings of its keys for logout tokens, which anybody can send. */
const KEYS_APART_MS = 1000;
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';
/** A logout token is sent at once; clocks may differ. */
const LOGOUT_AGE = '5 minutes';

const groupsShape = z.union([z.string().transform((one) => [one]), z.array(z.string()).max(MAX_GROUPS)]);
const logoutShape = z.looseObject({
  sub: shortText.optional(),
  sid: shortText.optional(),
  jti: z.string().min(1).max(MAX_TEXT),
  iat: z.number(),
  nonce: z.undefined().optional(),
  events: z.looseObject({ [LOGOUT_EVENT]: z.looseObject({}) }),
});

export class OidcProvider {
  readonly #options: ProviderOptions;
  readonly #clock: Pick<Clock, 'now' | 'elapsed'>;
  readonly #log: Log;
  /** Metadata and keys, and when to read them anew. */
  #known: { readonly config: Promise<Configuration>; readonly until: number } | undefined;
  #latest: Configuration | undefined;
  #trouble: string | undefined;
  /** Ids of logout tokens, with the end of their time. */
  readonly #logouts = new Map<string, number>();

  constructor(options: ProviderOptions, { clock, log }: { clock: Pick<Clock, 'now' | 'elapsed'>; log: Log }) {
    this.#options = options;
    this.#clock = clock;
    this.#log = log;
  }

  get name(): string {
    return this.#options.name;
  }

  /** Reason for which nobody can sign in now; undefined: no failure is known. Looks again in the background. */
  get trouble(): string | undefined {
    if (this.#trouble !== undefined) this.#configuration().catch(() => {});
    return this.#trouble;
  }

  /** Reads the metadata in the background, so that a failure is known before somebody signs in. */
  warmUp(): void {
    this.#configuration().catch(() => {});
  }

  /** Address to which the browser goes. Throws `SignInFailure`. */
  async begin(flow: FlowSecrets, redirectUri: string, loginHint?: string): Promise<string> {
    const client = await import('openid-client');
    const config = await this.#configuration();
    const address = client.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: this.#options.scopes.join(' '),
      code_challenge: await client.calculatePKCECodeChallenge(flow.verifier),
      code_challenge_method: 'S256',
      state: flow.state,
      nonce: flow.nonce,
      ...(loginHint !== undefined && { login_hint: loginHint }),
      // `max_age` requires `auth_time`. Of 0, some providers think that it is none, and others ask again and again.
      ...(flow.asked !== undefined && { prompt: 'login', max_age: '60' }),
    });
    return address.href;
  }

  /** Reads the answer that the browser brings to `answer`, the address of the callback. Throws `SignInFailure`. */
  async finish(flow: FlowSecrets, answer: URL): Promise<ProviderPerson> {
    const client = await import('openid-client');
    const config = await this.#withoutKeys(await this.#configuration());
    try {
      const tokens = await client.authorizationCodeGrant(config, answer, {
        expectedState: flow.state,
        expectedNonce: flow.nonce,
        pkceCodeVerifier: flow.verifier,
        idTokenExpected: true,
        // Refuses a token without `auth_time`, and one of an authentication before the request.
        ...(flow.asked !== undefined && { maxAge: Math.ceil((this.#clock.now() - flow.asked) / 1000) }),
      });
      const claims = tokens.claims();
      if (claims === undefined || tokens.id_token === undefined)
        throw new SignInFailure('refused', 'The answer has no ID token.');
      const { groupsClaim } = this.#options;
      const isWhole = claims['email'] !== undefined && claims[groupsClaim] !== undefined;
      const more =
        isWhole || config.serverMetadata().userinfo_endpoint === undefined
          ? {}
          : await client.fetchUserInfo(config, tokens.access_token, claims.sub);
      // What is signed counts.
      const said: { readonly [claim: string]: unknown } = { ...more, ...claims };
      this.#recovered();
      const text = (claim: string) => shortText.safeParse(said[claim]).data;
      const verified = said['email_verified'];
      const { auth_time: authenticated } = claims;
      return {
        issuer: claims.iss,
        subject: claims.sub,
        session: text('sid'),
        authenticatedAt: authenticated && Math.floor(authenticated * 1000),
        email: text('email'),
        emailVerified: verified === undefined ? undefined : verified === true || verified === 'true',
        name: text('name') ?? text('preferred_username'),
        groups: this.#groupsOf(said),
        idToken: tokens.id_token,
      };
    } catch (error) {
      const failure = this.#failure(error);
      const isUnproven = failure.reason === 'refused' && flow.asked !== undefined;
      throw isUnproven ? new SignInFailure('unproven', failure.message) : failure;
    }
  }

  /** Address at which the browser ends the session at the provider; undefined: the provider has none, or is not there. */
  async logoutAddress(idToken: string, back: string): Promise<string | undefined> {
    const client = await import('openid-client');
    try {
      const config = await this.#configuration();
      if (config.serverMetadata().end_session_endpoint === undefined) return undefined;
      const parameters = { id_token_hint: idToken, post_logout_redirect_uri: back };
      return client.buildEndSessionUrl(config, parameters).href;
    } catch {
      return undefined;
    }
  }

  /**
   * Reads a logout token that the provider sends. Each counts once. Throws `SignInFailure`.
   * @returns keys of the person or of the session at the provider
   */
  async loggedOut(token: string): Promise<{
    readonly subject: string | undefined;
    readonly session: string | undefined;
    readonly issuer: string;
  }> {
    const { jwtVerify } = await import('jose');
    const config = await this.#configuration();
    const {
      issuer,
      jwks_uri: jwksUri,
      id_token_signing_alg_values_supported: known,
    } = config.serverMetadata();
    if (jwksUri === undefined) throw new SignInFailure('refused', 'The provider publishes no keys.');
    try {
      const { payload } = await jwtVerify(token, await this.#keys(jwksUri), {
        issuer,
        audience: this.#options.clientId,
        maxTokenAge: LOGOUT_AGE,
        clockTolerance: '1 minute',
        currentDate: new Date(this.#clock.now()),
        // Symmetric algorithms would take a public key for a secret.
        algorithms: (known ?? ['RS256']).filter((one) => /^(?:RS|PS|ES|Ed)/.test(one)),
      });
      const read = logoutShape.safeParse(payload);
      if (!read.success) throw new SignInFailure('refused', 'It is not a logout token.');
      const { sub, sid, jti, iat } = read.data;
      if (sub === undefined && sid === undefined)
        throw new SignInFailure('refused', 'The logout token names neither a person nor a session.');
      this.#useOnce(jti, iat);
      return { issuer, subject: sub, session: sid };
    } catch (error) {
      throw this.#failure(error);
    }
  }

  #useOnce(jti: string, issuedAt: number): void {
    const now = this.#clock.now();
    for (const [id, until] of this.#logouts) if (until <= now) this.#logouts.delete(id);
    if (this.#logouts.has(jti)) throw new SignInFailure('refused', 'The logout token was used already.');
    this.#logouts.set(jti, issuedAt * 1000 + 600_000);
  }

  #keySet: { readonly address: string; readonly keys: JWTVerifyGetKey } | undefined;

  async #keys(address: string): Promise<JWTVerifyGetKey> {
    const { createRemoteJWKSet } = await import('jose');
    if (this.#keySet?.address !== address)
      this.#keySet = {
        address,
        keys: createRemoteJWKSet(new URL(address), {
          timeoutDuration: TIMEOUT_SECONDS * 1000,
          cooldownDuration: KEYS_APART_MS,
        }),
      };
    return this.#keySet.keys;
  }

  #groupsOf(said: { readonly [claim: string]: unknown }): readonly string[] | undefined {
    const { groupsClaim } = this.#options;
    const given = said[groupsClaim];
    // Claims that are elsewhere (OpenID Connect Core 5.6.2): a provider does so with many groups.
    const elsewhere = said['_claim_names'];
    const isElsewhere =
      typeof elsewhere === 'object' && elsewhere !== null && Object.hasOwn(elsewhere, groupsClaim);
    if (given === undefined) return isElsewhere ? undefined : [];
    return groupsShape.safeParse(given).data;
  }

  /** Metadata of the provider. An old one is used while it cannot be read anew. */
  async #configuration(): Promise<Configuration> {
    const now = this.#clock.elapsed();
    if (this.#known === undefined || this.#known.until <= now) {
      const config = this.#discover();
      this.#known = { config, until: now + FRESH_MS };
      config.catch(() => {
        this.#known = { config, until: this.#clock.elapsed() + RETRY_MS };
      });
    }
    try {
      return await this.#known.config;
    } catch (error) {
      if (this.#latest !== undefined) return this.#latest;
      throw error;
    }
  }

  async #discover(): Promise<Configuration> {
    const { issuer, clientId, clientSecret, name } = this.#options;
    const client = await import('openid-client');
    const address = new URL(issuer);
    try {
      const config = await client.discovery(
        address,
        clientId,
        undefined,
        authentication(client, clientSecret),
        {
          timeout: TIMEOUT_SECONDS,
          execute: this.#checks(client),
        },
      );
      this.#latest = config;
      this.#recovered();
      return config;
    } catch (error) {
      const why = described(error);
      this.#fail(`its configuration cannot be read: ${why}`);
      throw new SignInFailure('unavailable', `${name} cannot be reached: ${why}`);
    }
  }

  /**
   * The same configuration with no keys: the library keeps those of another one for a minute, also when the provider has
   * replaced them, and for five minutes after it has withdrawn one.
   */
  async #withoutKeys(config: Configuration): Promise<Configuration> {
    const client = await import('openid-client');
    const { clientId, clientSecret } = this.#options;
    const fresh = new client.Configuration(
      config.serverMetadata(),
      clientId,
      undefined,
      authentication(client, clientSecret),
    );
    fresh.timeout = TIMEOUT_SECONDS;
    for (const check of this.#checks(client)) check(fresh);
    return fresh;
  }

  #checks(client: Library): ((config: Configuration) => void)[] {
    return [
      // The signature of the ID token is checked, too: the TLS connection alone does not prove who made it.
      client.enableNonRepudiationChecks,
      ...(this.#options.issuer.startsWith('http:') ? [client.allowInsecureRequests] : []),
    ];
  }

  #recovered(): void {
    if (this.#trouble !== undefined)
      this.#log.info('The identity provider can be used again.', { Provider: this.name });
    this.#trouble = undefined;
  }

  #fail(trouble: string): void {
    if (this.#trouble !== trouble)
      this.#log.warn('Nobody can sign in at the identity provider.', { Provider: this.name, Error: trouble });
    this.#trouble = trouble;
  }

  #failure(error: unknown): SignInFailure {
    if (error instanceof SignInFailure) return error;
    const failure = new SignInFailure(reasonOf(error), described(error));
    // What a browser brings proves nothing about the provider: anybody can write it.
    const isBrought = error instanceof Error && 'code' in error && error.code === BROUGHT_ERROR;
    if (failure.reason === 'unavailable' && !isBrought) this.#fail(failure.message);
    return failure;
  }
}

type Library = typeof import('openid-client');

/** The way in which the provider wants the secret. */
function authentication(client: Library, clientSecret: string): ClientAuth {
  const basic = client.ClientSecretBasic(clientSecret);
  const post = client.ClientSecretPost(clientSecret);
  return (server, ...rest) => {
    const { token_endpoint_auth_methods_supported: methods } = server;
    // The default of Discovery 1.0 is Basic.
    const isBasic = methods === undefined || methods.includes('client_secret_basic');
    return (isBasic ? basic : post)(server, ...rest);
  };
}

/** The browser brings the error in the query of the callback. */
const BROUGHT_ERROR = 'OAUTH_AUTHORIZATION_RESPONSE_ERROR';

/** Errors of a provider that is not there, or does not know this service. */
const UNAVAILABLE = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_HTTP_REQUEST_FORBIDDEN',
  'OAUTH_WWW_AUTHENTICATE_CHALLENGE',
  'ERR_JWKS_TIMEOUT',
]);

function reasonOf(error: unknown): SignInFailure['reason'] {
  const { code, error: said, name } = error as { code?: string; error?: string; name?: string };
  if (code === BROUGHT_ERROR)
    return said === 'server_error' || said === 'temporarily_unavailable' ? 'unavailable' : 'denied';
  // The code of the answer is not one that the provider gave to this service for this sign-in.
  if (code === 'OAUTH_RESPONSE_BODY_ERROR') return said === 'invalid_grant' ? 'refused' : 'unavailable';
  if (code !== undefined) return UNAVAILABLE.has(code) ? 'unavailable' : 'refused';
  return name === 'TypeError' ? 'unavailable' : 'refused';
}

function described(error: unknown): string {
  const {
    message,
    code,
    error: said,
    cause,
  } = error as {
    message?: string;
    code?: string;
    error?: string;
    cause?: { readonly code?: unknown; readonly message?: unknown };
  };
  const inner = cause?.code ?? cause?.message;
  return [message ?? 'unknown', said ?? code, typeof inner === 'string' ? inner : undefined]
    .filter((part) => part !== undefined)
    .join('; ')
    .slice(0, 300);
}
