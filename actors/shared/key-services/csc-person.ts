/**
 * Signatures of persons at remote signing services, by the API of the Cloud Signature Consortium: the person lets this
 * service in at the provider (scope `service`), and authorizes one hash: there (scope `credential`), whose token is the SAD, or
 * by a PIN and codes.
 *
 * Source: CSC API 2.0.0.2, 8.3, 8.4, 11.4 to 11.6, 11.8 and 11.10; 1.0.4.0, 11.4 to 11.8; RFC 6749 §4.1; RFC 7636; RFC 8414; RFC 9207.
 */
import { hash, type KeyObject, X509Certificate } from 'node:crypto';
import type { Clock } from '@sealwright/runtime/core';
import { reasonOf } from './csc.ts';
import { algorithmOf, DIGESTS, type Digest, schemeOf } from './csc-algorithms.ts';
import { type AskedSecret, authorizationData, isSecretRefused, secretsIn } from './csc-secrets.ts';
import { isObject, type JsonAnswer, JsonClient, type JsonRequest } from './json-requests.ts';
import { limited, REQUEST_MS, type RequestLimit, ServiceBusy } from './key-service.ts';

/** Namer of a provider. What an organization names is nobody's choice but its own, and may be there to deceive. */
export type ProviderOrigin = 'operator' | 'organization';

/**
 * Modes in which a credential is authorized, and whether it may sign. A person types a PIN or a code on a page of this service
 * only for a provider of the operator: an organization could collect them under the name of this service. What is not here signs
 * nothing: `implicit` needs no person, so nobody would have confirmed.
 */
export const PERSON_MODES: {
  readonly [mode: string]: { readonly [origin in ProviderOrigin]: boolean };
} = {
  oauth2code: { operator: true, organization: true },
  explicit: { operator: true, organization: false },
};

/** A provider as configured. */
export interface SigningProvider {
  readonly origin: ProviderOrigin;
  /** Part of addresses. */
  readonly name: string;
  /** For persons. */
  readonly title: string;
  /** Name of the organization whose documents it signs; absent = all. */
  readonly organization?: string | undefined;
  /** With the version of the API: `https://remote.example.org/csc/v2`. */
  readonly address: string;
  /** Base of the OAuth 2 endpoints. @default what the provider says */
  readonly authorization?: string | undefined;
  readonly clientId: string;
  readonly clientSecret: string;
  /** See `ServiceSigner.proxy`. @default none */
  readonly proxy?: string | undefined;
  /** For its addresses. @default any: an operator has configured them */
  readonly policy?: NonNullable<JsonRequest['policy']>;
}

/**
 * `denied`: the person or the provider did not agree. `refused`: the authorization is not, or no longer, good. `secret`: a
 * typed value is wrong. `unavailable`: the provider does not answer, or not as it should.
 */
export class ProviderFailure extends Error {
  constructor(
    readonly reason: 'denied' | 'refused' | 'secret' | 'unavailable',
    message: string,
  ) {
    super(message);
    this.name = 'ProviderFailure';
  }
}

/** An access token, or what activates one signature. */
export interface Granted {
  readonly value: string;
  /** True: sent in the header, alone. Version 2 has it so where the token of a credential is a bearer token, and some services refuse both. */
  readonly isBearer: boolean;
}

/** A hash to authorize, in Base64. */
export interface HashToSign {
  readonly hash: string;
  readonly digest: Digest;
}

export interface PersonCredential {
  readonly id: string;
  /** DER, the signer's own first; empty: it cannot be read. */
  readonly certificates: readonly Buffer[];
  readonly algorithms: readonly string[];
  /** Undefined: it cannot sign here. */
  readonly scheme: ReturnType<typeof schemeOf>;
  /** Values that the person types to authorize it; undefined: it is authorized on a page of the provider. */
  readonly secrets: readonly AskedSecret[] | undefined;
  /** `blocked`: key or certificate are not in force. `manner`: nothing here can authorize it. `kind`: of its algorithms. */
  readonly trouble?: 'blocked' | 'manner' | 'kind';
}

/** Credentials of one person that are read. */
const MAX_CREDENTIALS = 20;
/** Pages of a list of them. */
const MAX_PAGES = 10;
const MAX_ID = 500;
const MAX_CHAIN = 10;
/** Characters of a token, by its scope: a cookie has room for that of the service, and the other one is used at once. */
const MAX_TOKEN = { service: 2_000, credential: 16_384 } as const;
const TOKEN = /^[\x21-\x7e]+$/;
/** Time for which the answer of `info` is kept. */
const FRESH_MS = 600_000;
/** Time limit of a signature: an authorization is lost with its answer, and the person would have to confirm again. */
const SIGN_MS = 30_000;
/** Statuses of a code that is sent: with a question, and without. */
const SENT = [200, 201, 204] as const;
const MAX_QUESTION = 200;
/** Characters of a document's name that the provider is told. */
const MAX_DESCRIPTION = 100;

interface Endpoints {
  readonly authorize: string;
  readonly token: string;
  readonly issuer: string | undefined;
  /** True: each answer names the issuer (RFC 9207 §3). */
  readonly namesIssuer?: boolean;
  /** True: the client is named in the header, which servers must take (RFC 6749 §2.3.1), unless metadata leaves it out (RFC 8414 §2). */
  readonly takesBasic?: boolean;
  /** For the address of tokens, to which the secret goes. */
  readonly policy: NonNullable<JsonRequest['policy']>;
}

interface Secrets {
  readonly state: string;
  readonly verifier: string;
  readonly redirectUri: string;
}

export class CscPersons {
  readonly #client: JsonClient;
  readonly #base: string;
  readonly #isFirst: boolean;
  readonly #policy: NonNullable<JsonRequest['policy']>;
  /** Those that an administrator has named: persons and the secret go to no other one. Undefined: to any. */
  readonly #origins: ReadonlySet<string> | undefined;
  #known: { readonly endpoints: Endpoints; readonly until: number } | undefined;

  constructor(
    private readonly provider: SigningProvider,
    private readonly clock: Pick<Clock, 'elapsed' | 'after'>,
  ) {
    this.#client = new JsonClient({ connections: 8, proxy: provider.proxy });
    this.#base = provider.address.replace(/\/$/, '');
    this.#isFirst = this.#base.endsWith('/v1');
    this.#policy = provider.policy ?? 'any';
    const { origin, address, authorization = address } = provider;
    if (origin === 'organization')
      this.#origins = new Set([address, authorization].map((one) => new URL(one).origin));
  }

  close(): void {
    this.#client.close();
  }

  /**
   * Asks as a client, with a code that nobody has.
   * @throws {ProviderFailure} for what would prevent signatures
   */
  async test(redirectUri: string): Promise<void> {
    this.#known = undefined;
    try {
      const { issuer: iss } = await this.#endpoints();
      await this.answer({ verifier: 'a'.repeat(43), redirectUri }, { code: 'test', ...(iss && { iss }) });
    } catch (error) {
      // A provider that knows the client refuses the code.
      if (!(error instanceof ProviderFailure) || error.reason !== 'refused') throw error;
    }
  }

  /** Address at which the person lets this service in. @throws {ProviderFailure} */
  async serviceAddress(secrets: Secrets, language: string): Promise<string> {
    return this.#authorizeAddress(secrets, { scope: 'service', lang: language });
  }

  /** Address at which the person authorizes one hash. @throws {ProviderFailure} */
  async credentialAddress(
    secrets: Secrets,
    credential: string,
    { hash: value, digest }: HashToSign,
    { language, description }: { readonly language: string; readonly description: string },
  ): Promise<string> {
    const hashes = Buffer.from(value, 'base64').toString('base64url');
    return this.#authorizeAddress(secrets, {
      scope: 'credential',
      credentialID: credential,
      numSignatures: '1',
      ...(this.#isFirst ? { hash: hashes } : { hashes, hashAlgorithmOID: DIGESTS[digest] }),
      description: description.slice(0, MAX_DESCRIPTION),
      lang: language,
    });
  }

  /**
   * Reads the answer that the browser brings, whose state the caller has compared.
   * @param scope that was asked for
   * @returns the token: of the service, or the SAD
   * @throws {ProviderFailure}
   */
  async answer(
    { verifier, redirectUri }: Omit<Secrets, 'state'>,
    query: { readonly [name: string]: unknown },
    scope: keyof typeof MAX_TOKEN = 'service',
  ): Promise<Granted> {
    const { code, error, iss } = query;
    if (error !== undefined)
      throw new ProviderFailure(
        error === 'server_error' || error === 'temporarily_unavailable' ? 'unavailable' : 'denied',
        `the answer says ${String(error).slice(0, 100)}`,
      );
    const endpoints = await this.#endpoints();
    const isNamed = iss === endpoints.issuer || isOrigin(iss, endpoints.authorize);
    if (iss === undefined ? endpoints.namesIssuer === true : !isNamed)
      throw new ProviderFailure('refused', 'the answer is of another issuer');
    if (typeof code !== 'string' || code === '') throw new ProviderFailure('refused', 'no code was brought');
    const { clientId, clientSecret } = this.provider;
    const takesBasic = endpoints.takesBasic === true;
    const answer = await this.#send({
      url: endpoints.token,
      policy: endpoints.policy,
      headers: takesBasic ? { authorization: basicOf(clientId, clientSecret) } : {},
      form: {
        grant_type: 'authorization_code',
        code,
        ...(!takesBasic && { client_id: clientId, client_secret: clientSecret }),
        redirect_uri: redirectUri,
        code_verifier: verifier,
      },
    });
    const { access_token: token, token_type: type } = answer.body;
    if (answer.status !== 200)
      // Of the client itself: nobody can sign until it is mended.
      throw new ProviderFailure(
        answer.body['error'] === 'invalid_grant' ? 'refused' : 'unavailable',
        `the code was not taken: ${reasonOf(answer)}`,
      );
    if (isToken(token, scope))
      return { value: token, isBearer: !this.#isFirst && /^bearer$/i.test(String(type)) };
    throw new ProviderFailure('unavailable', `it gave no token of up to ${MAX_TOKEN[scope]} characters`);
  }

  /** @throws {ProviderFailure} */
  async credentials(token: string): Promise<readonly PersonCredential[]> {
    const known = (await this.#listed(token)).slice(0, MAX_CREDENTIALS);
    return Promise.all(known.map((id) => this.credential(token, id)));
  }

  /** Ids of the first pages: version 1 lists some at a time. */
  async #listed(token: string): Promise<readonly string[]> {
    const found = new Set<string>();
    let order: object = {};
    for (let page = 0; page < MAX_PAGES && found.size < MAX_CREDENTIALS; page++) {
      const { credentialIDs: ids, nextPageToken: pageToken } = await this.#ask(
        'credentials/list',
        token,
        order,
      );
      for (const id of Array.isArray(ids) ? ids : [])
        if (typeof id === 'string' && id !== '' && id.length <= MAX_ID) found.add(id);
      if (typeof pageToken !== 'string' || pageToken === '') break;
      order = { pageToken };
    }
    return [...found];
  }

  /** @throws {ProviderFailure} */
  async credential(token: string, id: string): Promise<PersonCredential> {
    const order = { credentialID: id, certificates: 'chain', certInfo: true, authInfo: true };
    return readPersonCredential(id, await this.#ask('credentials/info', token, order), this.provider.origin);
  }

  /**
   * Has the codes of a credential sent to the person.
   * @returns a question of the provider, where it answers with one
   * @throws {ProviderFailure}
   */
  async challenge(token: string, { id, secrets = [] }: PersonCredential): Promise<string | undefined> {
    let question: string | undefined;
    for (const secret of secrets) {
      if (secret.kind !== 'challenge') continue;
      const [path, order] = this.#isFirst
        ? ['credentials/sendOTP', { credentialID: id }]
        : ['credentials/getChallenge', { credentialID: id, authObjectID: secret.id }];
      const { challenge } = await this.#ask(path, token, order, SENT);
      if (typeof challenge === 'string') question = challenge.slice(0, MAX_QUESTION);
    }
    return question;
  }

  /**
   * Authorizes one hash by what the person typed, which is sent once and kept nowhere.
   * @param values by the ids of the secrets
   * @returns the SAD
   * @throws {ProviderFailure} `secret` when a value is wrong
   */
  async authorize(
    token: string,
    { id }: PersonCredential,
    { hash: value, digest }: HashToSign,
    values: ReadonlyMap<string, string>,
  ): Promise<Granted> {
    const hashed = this.#isFirst ? { hash: [value] } : { hashes: [value], hashAlgorithmOID: DIGESTS[digest] };
    const order = {
      credentialID: id,
      numSignatures: 1,
      ...hashed,
      ...authorizationData(values, this.#isFirst),
    };
    const answer = await this.#asked('credentials/authorize', token, order);
    const { SAD, error } = answer.body;
    // What the answer says may repeat a typed value.
    const said = `HTTP status ${answer.status}, ${String(error).slice(0, 40)}`;
    if (isSecretRefused(answer)) throw new ProviderFailure('secret', `a typed value was refused (${said})`);
    if (answer.status !== 200) throw new ProviderFailure('refused', `credentials/authorize: ${said}`);
    if (isToken(SAD, 'credential')) return { value: SAD, isBearer: false };
    throw new ProviderFailure('unavailable', 'its answer holds no SAD');
  }

  /** @param activation used up by the call @returns the value, which the caller verifies @throws {ProviderFailure} */
  async sign(
    { token, activation: { value: SAD, isBearer } }: { readonly token: string; readonly activation: Granted },
    credential: PersonCredential,
    { hash: value, digest }: HashToSign,
  ): Promise<Buffer> {
    const { scheme } = credential.scheme ?? {};
    if (scheme === undefined) throw new ProviderFailure('refused', 'the credential cannot sign here');
    const algorithm = algorithmOf('The credential', credential, { scheme, digest });
    const hashed = this.#isFirst
      ? { hash: [value], hashAlgo: DIGESTS[digest] }
      : { hashes: [value], hashAlgorithmOID: DIGESTS[digest] };
    const order = { credentialID: credential.id, ...(!isBearer && { SAD }), ...hashed, ...algorithm };
    const { signatures } = await this.#ask('signatures/signHash', isBearer ? SAD : token, order);
    const [signature] = Array.isArray(signatures) && signatures.length === 1 ? signatures : [];
    if (typeof signature === 'string') return Buffer.from(signature, 'base64');
    throw new ProviderFailure('unavailable', 'its answer does not hold one signature');
  }

  async #authorizeAddress(
    { state, verifier, redirectUri }: Secrets,
    more: Readonly<Record<string, string>>,
  ): Promise<string> {
    const { authorize } = await this.#endpoints();
    const address = new URL(authorize);
    const parameters = {
      response_type: 'code',
      client_id: this.provider.clientId,
      redirect_uri: redirectUri,
      state,
      code_challenge: hash('sha256', verifier, 'buffer').toString('base64url'),
      code_challenge_method: 'S256',
      ...more,
    };
    for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
    return address.href;
  }

  async #endpoints(): Promise<Endpoints> {
    const now = this.clock.elapsed();
    if (this.#known !== undefined && this.#known.until > now) return this.#known.endpoints;
    const endpoints = await this.#findEndpoints();
    this.#known = { endpoints, until: now + FRESH_MS };
    return endpoints;
  }

  async #findEndpoints(): Promise<Endpoints> {
    const { authorization } = this.provider;
    if (authorization !== undefined) return { ...this.#endpointsBelow(authorization), policy: this.#policy };
    const answer = await this.#send({ url: `${this.#base}/info`, headers: {}, body: {} });
    const { authType, methods, oauth2, oauth2Issuer } = answer.body;
    const listed = Array.isArray(methods) ? methods : [];
    if (answer.status !== 200 || !listed.includes('signatures/signHash'))
      throw new ProviderFailure('unavailable', `it does not say that it signs hashes (${reasonOf(answer)})`);
    if (!Array.isArray(authType) || !authType.includes('oauth2code'))
      throw new ProviderFailure('unavailable', 'it lets in no persons (oauth2code)');
    const named = typeof oauth2Issuer === 'string' ? oauth2Issuer : undefined;
    if (typeof oauth2 === 'string') return { ...this.#endpointsBelow(oauth2), issuer: named };
    return this.#discovered(named ?? this.#base);
  }

  /** Metadata of an authorization server. */
  async #discovered(issuer: string): Promise<Endpoints> {
    const policy = this.#policyOf(issuer);
    const { origin, pathname } = new URL(this.#safe(issuer));
    const path = pathname === '/' ? '' : pathname.replace(/\/$/, '');
    const url = `${origin}/.well-known/oauth-authorization-server${path}`;
    const { body } = await this.#send({ method: 'GET', url, policy, headers: {} });
    if (body['issuer'] !== issuer) throw new ProviderFailure('unavailable', `${url} names another issuer`);
    const authorize = this.#safe(String(body['authorization_endpoint']));
    const token = this.#safe(String(body['token_endpoint']));
    const namesIssuer = body['authorization_response_iss_parameter_supported'] === true;
    const { token_endpoint_auth_methods_supported: methods } = body;
    const takesBasic =
      !Array.isArray(methods) ||
      methods.includes('client_secret_basic') ||
      !methods.includes('client_secret_post');
    return { authorize, token, issuer, namesIssuer, takesBasic, policy: this.#policyOf(token) };
  }

  #endpointsBelow(base: string): Endpoints {
    const at = this.#safe(base).replace(/\/$/, '');
    const token = `${at}/oauth2/token`;
    return { authorize: `${at}/oauth2/authorize`, token, issuer: undefined, policy: this.#policyOf(token) };
  }

  /** Policy for an address that the provider names: it is not configured, unless it is on the same host. */
  #policyOf(address: string): Endpoints['policy'] {
    return URL.canParse(address) && new URL(address).host === new URL(this.#base).host
      ? this.#policy
      : 'public';
  }

  /** Without encryption, code and secret could be read; loopback is for development. */
  #safe(address: string): string {
    const {
      protocol,
      origin,
      username,
      password,
      hash: part,
    } = URL.canParse(address) ? new URL(address) : new URL('about:blank');
    const isSafe = protocol === 'https:' || (this.#base.startsWith('http:') && protocol === 'http:');
    const said = `it names ${address.slice(0, 200)}`;
    if (!isSafe || username + password + part !== '')
      throw new ProviderFailure('unavailable', `${said}, not https, or with a user or fragment`);
    if (this.#origins?.has(origin) === false)
      throw new ProviderFailure('unavailable', `${said}, on a host that the organization has not named`);
    return address;
  }

  async #ask(
    path: string,
    token: string,
    body: object,
    good: readonly number[] = [200],
  ): Promise<JsonAnswer['body']> {
    const answer = await this.#asked(path, token, body);
    if (good.includes(answer.status)) return answer.body;
    throw new ProviderFailure('refused', `${path}: ${reasonOf(answer)}`);
  }

  #asked(path: string, token: string, body: object): Promise<JsonAnswer> {
    const headers = { authorization: `Bearer ${token}` };
    return this.#send({ url: `${this.#base}/${path}`, headers, body });
  }

  /** A code and an activation count once: nothing is sent again. */
  async #send(request: Omit<JsonRequest, 'method'> & Partial<JsonRequest>): Promise<JsonAnswer> {
    const longest = request.url.endsWith('/signatures/signHash') ? SIGN_MS : REQUEST_MS;
    try {
      return await limited(this.clock, longest, (limit: RequestLimit) =>
        this.#client.send({ policy: this.#policy, method: 'POST', ...request }, limit, false),
      );
    } catch (error) {
      if (error instanceof ServiceBusy) throw new ProviderFailure('unavailable', error.message);
      throw error;
    }
  }
}

export function readPersonCredential(
  id: string,
  body: JsonAnswer['body'],
  origin: ProviderOrigin,
): PersonCredential {
  const key = isObject(body['key']) ? body['key'] : {};
  const cert = isObject(body['cert']) ? body['cert'] : {};
  const auth = isObject(body['auth']) ? body['auth'] : {};
  const algorithms = Array.isArray(key['algo']) ? key['algo'].map(String) : [];
  const given = Array.isArray(cert['certificates']) ? cert['certificates'].slice(0, MAX_CHAIN) : [];
  const certificates = given.map((text) => Buffer.from(String(text), 'base64'));
  const publicKey = publicKeyOf(certificates[0]);
  const scheme = publicKey && schemeOf(publicKey.asymmetricKeyType === 'rsa', algorithms);
  const { status = 'valid' } = cert;
  const mode = String(auth['mode'] ?? body['authMode']);
  const isOpen = Object.hasOwn(PERSON_MODES, mode) && PERSON_MODES[mode]?.[origin] === true;
  const typed = isOpen && mode === 'explicit' ? secretsIn(body) : undefined;
  const secrets = typed?.length === 0 ? undefined : typed;
  const trouble =
    publicKey === undefined || key['status'] !== 'enabled' || status !== 'valid'
      ? 'blocked'
      : !isOpen || (mode !== 'oauth2code' && secrets === undefined)
        ? 'manner'
        : scheme === undefined
          ? 'kind'
          : undefined;
  return { id, certificates, algorithms, scheme, secrets, ...(trouble !== undefined && { trouble }) };
}

/** Both are encoded as members of a form (RFC 6749 §2.3.1). */
function basicOf(...parts: readonly [id: string, secret: string]): string {
  const encoded = parts.map((part) => String(new URLSearchParams([['', part]])).slice(1));
  return `Basic ${Buffer.from(encoded.join(':')).toString('base64')}`;
}

function isToken(value: unknown, scope: keyof typeof MAX_TOKEN): value is string {
  return typeof value === 'string' && TOKEN.test(value) && value.length <= MAX_TOKEN[scope];
}

function publicKeyOf(certificate: Buffer | undefined): KeyObject | undefined {
  try {
    return certificate && new X509Certificate(certificate).publicKey;
  } catch {
    return undefined;
  }
}

/** True for the origin of the endpoints: without metadata no other name is known. */
function isOrigin(issuer: unknown, endpoint: string): boolean {
  return (
    typeof issuer === 'string' && URL.canParse(issuer) && new URL(issuer).origin === new URL(endpoint).origin
  );
}
