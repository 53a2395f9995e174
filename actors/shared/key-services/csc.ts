/**
 * Keys of remote signing services, by the API of the Cloud Signature Consortium, versions 1 and 2. Each batch of hashes is
 * authorized alone, for these hashes, and its activation data (SAD) is used once.
 *
 * | Member        | Version 1                | Version 2                |
 * |---------------|--------------------------|--------------------------|
 * | hashes        | `hash`                   | `hashes`                 |
 * | digest        | `hashAlgo`               | `hashAlgorithmOID`       |
 * | PIN           | `PIN`                    | `authData`               |
 * | authorization | `authMode`, `PIN`, `OTP` | `auth.mode`, `.objects`  |
 *
 * Source: CSC API 1.0.4.0 and 2.0.0.2, clause 11.
 */
import type { KeyObject } from 'node:crypto';
import type { Clock } from '@sealwright/runtime/core';
import { CryptoError } from '@sealwright/signatures';
import { AccessTokens } from './access-tokens.ts';
import { algorithmOf, DIGESTS, type Digest } from './csc-algorithms.ts';
import { type Credential, readCredential } from './csc-credential.ts';
import type { CscPin } from './csc-pin.ts';
import { authorizationData, isSecretRefused } from './csc-secrets.ts';
import { cscTokenSource } from './csc-tokens.ts';
import { HashBatches } from './hash-batches.ts';
import { type JsonAnswer, JsonClient, type JsonConnections } from './json-requests.ts';
import {
  type CscPlace,
  type KeyDriver,
  keptVersion,
  limited,
  PIN_REFUSAL,
  REQUEST_MS,
  type RequestLimit,
  ServiceBusy,
  unavailable,
} from './key-service.ts';

/** Time limit of the authorization of a batch and its signatures, milliseconds: of 100 hashes, each may take some 100. */
const BATCH_MS = 30_000;

interface HashOrder {
  /** Base64. */
  readonly hash: string;
  readonly digest: Digest;
  readonly scheme: string;
}

interface SessionOptions {
  readonly connections: JsonConnections;
  readonly clock: Pick<Clock, 'elapsed' | 'after'>;
  readonly pin: CscPin;
}

export function cscDriver(place: CscPlace, publicKey: KeyObject, parts: SessionOptions): KeyDriver {
  const { clock } = parts;
  const session = new Session(place, publicKey, parts);
  const withCredential = keptVersion((limit) => session.find(publicKey, limit));
  let most = 1;
  const batches = new HashBatches<HashOrder>(
    (orders) =>
      limited(clock, BATCH_MS, (limit) =>
        withCredential(limit, (credential) => session.signAll(credential, orders, limit)),
      ),
    { most: () => most, kindOf: ({ scheme, digest }) => `${scheme} ${digest}` },
  );
  return {
    name: session.name,
    async confirm(wanted, limit) {
      await session.find(wanted, limit);
    },
    isQueued: true,
    async sign({ hash, algorithm: { scheme, digest } }, limit) {
      most = await limited(clock, REQUEST_MS, (own) =>
        withCredential(own, async ({ multisign }) => multisign),
      );
      return batches.sign({ hash: hash.toString('base64'), digest, scheme }, limit);
    },
    close: () => session.close(),
  };
}

/** Requests to one service for one credential. */
class Session {
  readonly name: string;
  readonly #client: JsonClient;
  readonly #base: string;
  readonly #isFirst: boolean;
  readonly #tokens: AccessTokens;
  readonly #pin: CscPin;

  constructor(
    private readonly place: CscPlace,
    private readonly publicKey: KeyObject,
    { connections, clock, pin }: SessionOptions,
  ) {
    this.#pin = pin;
    this.#client = new JsonClient(connections);
    this.#base = place.address.replace(/\/$/, '');
    this.#isFirst = this.#base.endsWith('/v1');
    this.name = `The credential ${place.key} of ${this.#base}`;
    const info = (limit: RequestLimit) => this.#post('info', {}, {}, limit);
    this.#tokens = new AccessTokens(this.#client, cscTokenSource(this.#base, process.env, info), clock);
  }

  close(): void {
    this.#client.close();
  }

  /** @throws {CryptoError} `key.not-found` with the credentials that there are, and as `readCredential` */
  async find(wanted: KeyObject, limit: RequestLimit): Promise<Credential> {
    const order = { credentialID: this.place.key, certificates: 'chain', certInfo: true, authInfo: true };
    const answer = await this.#send('credentials/info', order, limit);
    if (answer.status === 200) return readCredential(this.name, answer.body, wanted);
    if (answer.status !== 400 && answer.status !== 404) throw this.#refused(answer);
    const { body } = await this.#send('credentials/list', {}, limit);
    const known = Array.isArray(body['credentialIDs']) ? body['credentialIDs'].map(String) : [];
    if (known.includes(this.place.key)) throw this.#refused(answer);
    throw new CryptoError(
      'key.not-found',
      `${this.name} does not exist. Set KeyService:Key to one of: ${known.join(', ').slice(0, 300)}.`,
    );
  }

  /** @param orders of one algorithm @returns values in their order @throws {CryptoError} `key.*` */
  async signAll(
    credential: Credential,
    orders: readonly HashOrder[],
    limit: RequestLimit,
  ): Promise<readonly Buffer[]> {
    const [{ scheme, digest }] = orders as readonly [HashOrder];
    const algorithm = algorithmOf(this.name, credential, { scheme, digest });
    const hashes = orders.map(({ hash }) => hash);
    const hashed = this.#isFirst
      ? { hash: hashes, hashAlgo: DIGESTS[digest] }
      : { hashes, hashAlgorithmOID: DIGESTS[digest] };
    const SAD = await this.#authorize(credential, { ...hashed, numSignatures: hashes.length }, limit);
    const order = { credentialID: this.place.key, SAD, ...hashed, ...algorithm };
    const answer = await this.#send('signatures/signHash', order, limit);
    const { signatures } = answer.body;
    if (answer.status !== 200) throw await this.#cause(answer, limit);
    if (!Array.isArray(signatures) || signatures.length !== hashes.length)
      throw unavailable(
        this.name,
        `its answer holds ${Array.isArray(signatures) ? signatures.length : 'no'} signatures for ${hashes.length} hashes`,
        'Tell the provider.',
      );
    return signatures.map((value) => Buffer.from(String(value), 'base64'));
  }

  async #authorize({ passwords }: Credential, hashed: object, limit: RequestLimit): Promise<string> {
    const order = { credentialID: this.place.key, ...hashed };
    const path = 'credentials/authorize';
    if (passwords.length === 0) return this.#activation(await this.#send(path, order, limit), limit);
    if (this.#pin.value === '')
      throw new CryptoError(PIN_REFUSAL, `${this.name} takes a PIN. Set CSC_PIN, and restart the service.`);
    const values = new Map(passwords.map((id) => [id, this.#pin.value]));
    const secrets = authorizationData(values, this.#isFirst);
    return this.#pin.inTurn(limit, async () => {
      if (this.#pin.refusal !== undefined) throw this.#pinRefused(this.#pin.refusal);
      // Another refusal with 401 may be that of the PIN.
      const isTokenRefused = ({ status, body }: JsonAnswer) =>
        status === 401 && body['error'] === 'invalid_token';
      const answer = await this.#send(path, { ...order, ...secrets }, limit, isTokenRefused);
      const reason = reasonOf(answer);
      if (!isSecretRefused(answer)) return this.#activation(answer, limit);
      // A credential that is disabled or gone says so itself.
      await this.find(this.publicKey, limit).catch((error: unknown) => {
        if (!(error instanceof ServiceBusy)) throw error;
      });
      this.#pin.refuse(reason);
      throw this.#pinRefused(reason);
    });
  }

  /** @returns the SAD of an answer */
  async #activation(answer: JsonAnswer, limit: RequestLimit): Promise<string> {
    const { SAD } = answer.body;
    if (answer.status !== 200) throw await this.#cause(answer, limit);
    if (typeof SAD === 'string' && SAD !== '') return SAD;
    throw unavailable(this.name, 'its answer holds no SAD', 'Use a credential that needs no person.');
  }

  #pinRefused(reason: string): CryptoError {
    return new CryptoError(
      PIN_REFUSAL,
      `${this.name} refuses the PIN (${reason}). It is not sent again, since services lock credentials after some attempts. Correct CSC_PIN, and restart the service.`,
    );
  }

  /** @param isTokenRefused as `AccessTokens.authorize` */
  #send(
    path: string,
    body: object,
    limit: RequestLimit,
    isTokenRefused?: (answer: JsonAnswer) => boolean,
  ): Promise<JsonAnswer> {
    return this.#tokens.authorize(
      limit,
      (token) => this.#post(path, { authorization: `Bearer ${token}` }, body, limit),
      isTokenRefused,
    );
  }

  #post(
    path: string,
    headers: Readonly<Record<string, string>>,
    body: object,
    limit: RequestLimit,
  ): Promise<JsonAnswer> {
    // A request that may count twice is not sent again on a new connection.
    return this.#client.send({ method: 'POST', url: `${this.#base}/${path}`, headers, body }, limit, false);
  }

  /** A credential that is disabled or gone says so itself. @throws as `find` */
  async #cause(answer: JsonAnswer, limit: RequestLimit): Promise<CryptoError> {
    await this.find(this.publicKey, limit);
    return this.#refused(answer);
  }

  #refused(answer: JsonAnswer): CryptoError {
    return unavailable(this.name, reasonOf(answer), 'Check the credential at the provider.');
  }
}

export function reasonOf({ status, body: { error, error_description: text } }: JsonAnswer): string {
  const said = [error, text].filter((one) => typeof one === 'string').join(': ');
  return `HTTP status ${status}${said === '' ? '' : `, ${said.slice(0, 300)}`}`;
}
