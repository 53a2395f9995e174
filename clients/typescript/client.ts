/**
 * Client of the HTTP APIs, on `fetch` alone. Types of the operations: `portal.d.ts` and `batch.d.ts`, written by
 * `scripts/write-client.mjs` from the OpenAPI documents.
 */

/** One operation, as the generated tables list it by method and path. */
export interface OperationTypes {
  readonly params: object;
  readonly query: object;
  readonly body: unknown;
  readonly answer: unknown;
}

export interface ClientOptions {
  /** Address of the service, such as `http://127.0.0.1:8090`. */
  readonly url: string;
  /** The key. @default none */
  readonly key?: string;
  /** Header of the key. @default X-Api-Key */
  readonly keyHeader?: string;
  /** @default the global `fetch` */
  readonly fetch?: typeof fetch;
}

/** Values of one call. */
export interface CallOptions<Operation extends OperationTypes> {
  /** Values of `{name}` in the path. */
  readonly params?: Operation['params'];
  readonly query?: Operation['query'];
  readonly body?: Operation['body'];
  readonly headers?: { readonly [name: string]: string };
  readonly signal?: AbortSignal;
}

/** A refusal of the service. */
export class ApiError extends Error {
  readonly status: number;
  /** Reason for programs; empty when the answer has none. */
  readonly code: string;
  /** The body as sent, at most 10,000 characters. */
  readonly body: string;

  constructor(status: number, body: string) {
    const { code, message } = refusalIn(body);
    super(message === '' ? `HTTP status ${status}` : message);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.body = body.slice(0, 10_000);
  }
}

function refusalIn(body: string): { readonly code: string; readonly message: string } {
  try {
    const { code = '', message, detail = '' } = JSON.parse(body);
    return { code: String(code), message: String(message ?? detail) };
  } catch {
    return { code: '', message: '' };
  }
}

/** Operations of one service, by method and path. */
export class Client<Operations extends { readonly [Name in keyof Operations]: OperationTypes }> {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** The JSON of the answer; undefined when it is empty. Rejects with `ApiError`. */
  async call<Name extends keyof Operations & string>(
    operation: Name,
    options: CallOptions<Operations[Name]> = {},
  ): Promise<Operations[Name]['answer']> {
    const text = await (await this.response(operation, options)).text();
    return text === '' ? undefined : JSON.parse(text);
  }

  /** The answer with its stream (`body`), for files. Rejects with `ApiError`. */
  async response<Name extends keyof Operations & string>(
    operation: Name,
    { params = {}, query = {}, body, headers = {}, signal }: CallOptions<Operations[Name]> = {},
  ): Promise<Response> {
    const { url, key, keyHeader = 'X-Api-Key', fetch: send = fetch } = this.#options;
    const [method = 'GET', path = ''] = operation.split(' ');
    const values = new Map<string, unknown>(Object.entries(params));
    const address = new URL(
      path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values.get(name) ?? ''))),
      url,
    );
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined && value !== null) address.searchParams.set(name, String(value));
    }
    const isJson = body !== undefined && !(body instanceof FormData);
    const answer = await send(address, {
      method,
      headers: {
        ...(key !== undefined && { [keyHeader]: key }),
        ...(isJson && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: body instanceof FormData ? body : JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    });
    if (!answer.ok) throw new ApiError(answer.status, await answer.text());
    return answer;
  }
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
