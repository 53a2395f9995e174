/** Access tokens of OAuth 2.0 (RFC 6749 §4.4, §5): kept until most of their time is over, and renewed once a service refuses one. */
import type { Clock } from '@sealwright/runtime/core';
import type { CryptoError } from '@sealwright/signatures';
import type { JsonAnswer, JsonClient, JsonRequest } from './json-requests.ts';
import { type RequestLimit, ServiceBusy, unavailable } from './key-service.ts';

/** Origin of a token, read anew each time: files and identities change. */
export interface TokenSource {
  /** For messages, without secrets. */
  readonly name: string;
  /** @throws {ServiceBusy} {CryptoError} `key.unavailable` */
  request(limit: RequestLimit): JsonRequest | Promise<JsonRequest>;
  /** Members of an answer as RFC 6749 has them. @default as they are */
  tokenOf?(body: JsonAnswer['body']): JsonAnswer['body'];
  /** Sentences that say what to do when no token is given. */
  readonly remedy: string;
}

/** Share of its lifetime for which a token is used: the clocks of client and service differ, and a request takes time. */
const USED_SHARE = 0.8;
/** Lifetime of a token whose answer names none, seconds. */
const DEFAULT_SECONDS = 300;
/** Characters that a header may carry. */
const TOKEN = /^[\x21-\x7e]{1,16384}$/;

export class AccessTokens {
  #held: { readonly value: string; readonly until: number } | undefined;
  #asked: Promise<string> | undefined;

  constructor(
    private readonly client: JsonClient,
    private readonly source: TokenSource,
    private readonly clock: Pick<Clock, 'elapsed'>,
  ) {}

  /**
   * Sends a request with a token; with another one where the first is refused.
   * @param send given the value of the token
   * @param isRefused true for the answer to a token that is refused
   * @throws {ServiceBusy} {CryptoError} `key.unavailable` when no token is given
   */
  async authorize(
    limit: RequestLimit,
    send: (token: string) => Promise<JsonAnswer>,
    isRefused = ({ status }: JsonAnswer) => status === 401,
  ): Promise<JsonAnswer> {
    const token = await this.#token(limit);
    const answer = await send(token);
    if (!isRefused(answer)) return answer;
    // Others may have renewed it meanwhile.
    if (this.#held?.value === token) this.#held = undefined;
    return send(await this.#token(limit));
  }

  /**
   * Asks for the JSON at an address, or sends some.
   * @throws {ServiceBusy} {CryptoError} `key.unavailable` when no token is given, and what `refused` makes of an answer other than 200
   */
  async json(
    url: string,
    {
      limit,
      body,
      refused,
    }: {
      readonly limit: RequestLimit;
      readonly body?: object | undefined;
      readonly refused: (answer: JsonAnswer) => Error;
    },
  ): Promise<JsonAnswer['body']> {
    const method = body === undefined ? 'GET' : 'POST';
    const answer = await this.authorize(limit, (token) =>
      this.client.send(
        { method, url, headers: { authorization: `Bearer ${token}` }, ...(body && { body }) },
        limit,
      ),
    );
    if (answer.status === 200) return answer.body;
    throw refused(answer);
  }

  async #token(limit: RequestLimit): Promise<string> {
    if (this.#held !== undefined && this.clock.elapsed() < this.#held.until) return this.#held.value;
    this.#asked ??= this.#renew(limit).finally(() => {
      this.#asked = undefined;
    });
    return this.#asked;
  }

  async #answer(limit: RequestLimit): Promise<JsonAnswer> {
    try {
      return await this.client.send(await this.source.request(limit), limit);
    } catch (error) {
      if (!(error instanceof ServiceBusy)) throw error;
      const { name, remedy } = this.source;
      const reason = `${name} gets no token, ${error.message} (${remedy.replace(/\.$/, '')})`;
      throw new ServiceBusy(reason, error.retryAfterMs);
    }
  }

  async #renew(limit: RequestLimit): Promise<string> {
    const begun = this.clock.elapsed();
    const answer = await this.#answer(limit);
    const { body } = answer;
    const { access_token: value, expires_in: seconds } = this.source.tokenOf?.(body) ?? body;
    if (answer.status !== 200 || typeof value !== 'string' || !TOKEN.test(value))
      throw refused(this.source, answer);
    const lifetime = Number(seconds) > 0 ? Number(seconds) : DEFAULT_SECONDS;
    this.#held = { value, until: begun + 1000 * lifetime * USED_SHARE };
    return value;
  }
}

function refused({ name, remedy }: TokenSource, { status, body }: JsonAnswer): CryptoError {
  const { error, error_description: text } = body;
  const said = [error, text].filter((one) => typeof one === 'string').join(': ');
  const [line = ''] = said.split(/[\r\n]/);
  const reason = status === 200 ? 'its answer holds no token' : `HTTP status ${status}`;
  return unavailable(
    name,
    line === '' ? reason : `${reason}, ${line.slice(0, 300).replace(/\.$/, '')}`,
    remedy,
  );
}
