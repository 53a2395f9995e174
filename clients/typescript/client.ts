/**
 * Client of the HTTP APIs, on `fetch` alone. Types of the operations: `portal.d.ts` and `batch.d.ts`, written by
 * `scripts/write-client.mjs` from the OpenAPI documents.
 */

import { IDEMPOTENCY_KEYS } from './idempotency-keys.ts';

/** One operation, as the generated tables list it by method and path. */
export interface OperationTypes {
  readonly params: object;
  readonly query: object;
  readonly body: unknown;
  /** `never` for files and XML, which `response` gives. */
  readonly answer: unknown;
  /** Codes of its refusals. */
  readonly code: string;
}

type Table<Operations> = { readonly [Name in keyof Operations]: OperationTypes };

export interface ClientOptions {
  /** Address of the service, such as `http://127.0.0.1:8090`. */
  readonly url: string;
  /** The key. @default none */
  readonly key?: string;
  /** Header of the key. @default X-Api-Key */
  readonly keyHeader?: string;
  /**
   * Number of further tries of calls that may be repeated: GET, PUT, DELETE, and those that may have an idempotency key.
   * With 0 the client makes no keys. @default 2
   */
  readonly retries?: number;
  /** @default the global `fetch` */
  readonly fetch?: typeof fetch;
}

/** Values of one call. `params`: values of `{name}` in the path. */
export type CallOptions<Operation extends OperationTypes> = {
  readonly query?: Operation['query'];
  readonly headers?: { readonly [name: string]: string };
  /** Ends the call, also between two tries. */
  readonly signal?: AbortSignal;
} & (object extends Operation['params']
  ? { readonly params?: Operation['params'] }
  : { readonly params: Operation['params'] }) &
  (undefined extends Operation['body']
    ? { readonly body?: Operation['body'] }
    : { readonly body: Operation['body'] });

/** The options, which may be left out when no member of them is required. */
type Options<Operation extends OperationTypes> =
  object extends CallOptions<Operation>
    ? [options?: CallOptions<Operation>]
    : [options: CallOptions<Operation>];

/** A refusal of the service. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** Reason for programs; empty when the answer has none. */
  readonly code: string;
  /** Further facts of a refusal of the portal, such as limits and ids; empty when there are none. */
  readonly details: Readonly<Record<string, string>>;
  /** Sentences about members of the request, by name; only with status 400. */
  readonly errors: Readonly<Record<string, readonly string[]>>;
  /** The request in the logs of the service; empty when the answer names none. */
  readonly requestId: string;
  /** The body as sent, at most 10,000 characters. */
  readonly body: string;

  constructor(status: number, body: string, requestId = '') {
    const { code, message, details, errors } = refusalIn(body);
    super(message === '' ? `HTTP status ${status}` : message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.errors = errors;
    this.requestId = requestId;
    this.body = body.slice(0, 10_000);
  }
}

type Refused = Pick<ApiError, 'code' | 'message' | 'details' | 'errors'>;

function refusalIn(body: string): Refused {
  try {
    const { code = '', message, detail, title = '', details, errors } = JSON.parse(body);
    return {
      code: String(code),
      message: String(message ?? detail ?? title),
      details: details ?? {},
      errors: errors ?? {},
    };
  } catch {
    return { code: '', message: '', details: {}, errors: {} };
  }
}

/** Methods that may be repeated. Source: RFC 9110 §9.2.2. */
const IDEMPOTENT = new Set(['GET', 'PUT', 'DELETE']);

/** Answers of a proxy that does not know whether the service has done the call. */
const UNKNOWN_OUTCOME = new Set([502, 504]);

/** Answers after which a call is repeated: too many requests, and services or proxies that are busy or gone. */
const TRANSIENT = new Set([429, 502, 503, 504]);

/** Longest wait between two tries, milliseconds. */
const MAX_WAIT_MS = 30_000;

/** Operations of one service, by method and path. */
export class Client<Operations extends Table<Operations>> {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** The JSON of the answer; undefined when it is empty. Rejects with `ApiError`, and with the error of `fetch`. */
  async call<Name extends keyof Operations & string>(
    operation: Name,
    ...options: Options<Operations[Name]>
  ): Promise<Operations[Name]['answer']> {
    const answer = await this.response(operation, ...options);
    const type = answer.headers.get('content-type') ?? '';
    if (type !== '' && !/json/.test(type)) {
      await answer.body?.cancel();
      throw new TypeError(`${operation} answers ${type}: read it from response().`);
    }
    const text = await answer.text();
    return text === '' ? undefined : JSON.parse(text);
  }

  /** The answer with its stream (`body`), for files. Rejects like `call`. */
  async response<Name extends keyof Operations & string>(
    operation: Name,
    ...[options]: Options<Operations[Name]>
  ): Promise<Response> {
    const { retries = 2 } = this.#options;
    const {
      params = {},
      query = {},
      body,
      headers = {},
      signal,
    }: CallOptions<OperationTypes> = options ?? {};
    const [method = 'GET', path = ''] = operation.split(' ');
    const isKeyed = IDEMPOTENCY_KEYS.has(operation);
    const isRepeatable = IDEMPOTENT.has(method) || isKeyed;
    const request: RequestInit = {
      method,
      headers: {
        ...(isKeyed && retries > 0 && !hasKey(headers) && { 'idempotency-key': randomKey() }),
        ...this.#headers(body, headers),
      },
      ...(body !== undefined && { body: body instanceof FormData ? body : JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    };
    const address = addressOf(this.#options.url, path, params, query);
    let isOutcomeUnknown = false;
    for (let left = isRepeatable ? retries : 0; ; left -= 1) {
      const answer = await this.#send(address, request).catch((error: unknown) => {
        if (left <= 0 || signal?.aborted === true) throw error;
        return undefined;
      });
      if (answer?.ok === true) return answer;
      if (answer !== undefined && (left <= 0 || !TRANSIENT.has(answer.status))) {
        const error = new ApiError(
          answer.status,
          await answer.text(),
          answer.headers.get('x-request-id') ?? '',
        );
        // The try without an answer has deleted it.
        if (method === 'DELETE' && isOutcomeUnknown && isGone(error))
          return new Response(null, { status: 204 });
        throw error;
      }
      isOutcomeUnknown ||= answer === undefined || UNKNOWN_OUTCOME.has(answer.status);
      await answer?.body?.cancel();
      await wait(delayOf(answer, retries - left), signal);
    }
  }

  /** True when the service has refused, with one of these codes or, without codes, with any. */
  isRefusal(error: unknown, ...codes: readonly Operations[keyof Operations]['code'][]): error is ApiError {
    return error instanceof ApiError && (codes.length === 0 || codes.some((code) => code === error.code));
  }

  /** Reads a file that is elsewhere from there, without the key and other headers that are for the service. */
  async #send(address: URL, request: RequestInit): Promise<Response> {
    const { fetch: send = fetch } = this.#options;
    if (address.searchParams.get('redirect') !== 'true') return send(address, request);
    const answer = await send(address, { ...request, redirect: 'manual' });
    if (answer.type === 'opaqueredirect')
      throw new TypeError('Browsers hide the address of a redirect: call without `redirect`.');
    const place = answer.status === 302 ? answer.headers.get('location') : null;
    if (place === null) return answer;
    await answer.body?.cancel();
    const range = new Headers(request.headers).get('range');
    return send(new URL(place, address), {
      ...(range !== null && { headers: { range } }),
      ...(request.signal && { signal: request.signal }),
    });
  }

  #headers(body: unknown, more: { readonly [name: string]: string }): { readonly [name: string]: string } {
    const { key, keyHeader = 'X-Api-Key' } = this.#options;
    const isJson = body !== undefined && !(body instanceof FormData);
    return {
      ...(key !== undefined && { [keyHeader]: key }),
      ...(isJson && { 'content-type': 'application/json' }),
      ...more,
    };
  }
}

/** 128 random bits. `randomUUID` is missing in pages without https. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}

function hasKey(headers: { readonly [name: string]: string }): boolean {
  return Object.keys(headers).some((name) => /^idempotency-key$/i.test(name));
}

/** True for refusals of what does not exist, or no longer. */
function isGone({ status, code }: ApiError): boolean {
  return status === 404 || /(NotFound|IsDeleted)$/.test(code);
}

function addressOf(url: string, path: string, params: object, query: object): URL {
  const values = new Map<string, unknown>(Object.entries(params));
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values.get(name);
    const segment = encodeURIComponent(String(value ?? ''));
    // An empty segment, `.` or `..` would name another operation.
    if (/^\.{0,2}$/.test(segment)) throw new TypeError(`${path} needs ${name}.`);
    return segment;
  });
  // The address may have a path, below which the service is.
  const address = new URL((url.endsWith('/') ? url.slice(0, -1) : url) + filled);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) address.searchParams.set(name, String(value));
  }
  return address;
}

/** Milliseconds to the next try: as the service asks, or twice as long after each try, less a random half. */
function delayOf(answer: Response | undefined, tries: number): number {
  const seconds = Number(answer?.headers.get('retry-after') ?? Number.NaN);
  if (seconds >= 0) return Math.min(seconds * 1000, MAX_WAIT_MS);
  return Math.min(500 * 2 ** tries, MAX_WAIT_MS) * (1 - Math.random() / 2);
}

function wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted === true) abort();
  });
}

interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

/** Every item of a list of the portal, page by page. `page`: sends one request with the cursor. */
export async function* items<Item>(page: (cursor: string) => Promise<Page<Item>>): AsyncGenerator<Item> {
  for (let cursor: string | null = ''; cursor !== null; ) {
    const found: Page<Item> = await page(cursor);
    yield* found.items;
    cursor = found.nextCursor;
  }
}
