/** Requests with JSON to key services, over connections that stay open. */
import { type AddressPolicy, createHttpClient } from '@sealwright/signatures/http';
import { type RequestLimit, ServiceBusy } from './key-service.ts';

export interface JsonAnswer {
  readonly status: number;
  /** `{}` for an answer that is no JSON object. */
  readonly body: { readonly [member: string]: unknown };
  /** The answer as it came, at most `MAX_ANSWER_BYTES`. */
  readonly text?: string;
}

export interface JsonRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: object;
  /** Instead of `body`: members of a form. */
  readonly form?: Readonly<Record<string, string>>;
  /** @default any: an operator has configured the address */
  readonly policy?: AddressPolicy;
}

/** Bytes of an answer; a chain of certificates takes some 10,000. */
const MAX_ANSWER_BYTES = 1 << 20;

/** Statuses below 500 after which a later request may succeed; Vault answers 412 and 47x while a node catches up. */
const PASSING: ReadonlySet<number> = new Set([408, 412, 425, 429, 472, 473]);

/** Codes of errors of a name. Which one it is would tell tenants what names there are in the network of the operator. */
const NO_ADDRESS: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_AGAIN', 'address.not-public']);

export interface JsonConnections {
  /** Open at once, and kept. */
  readonly connections: number;
  /** URL of a proxy; see `HttpClientOptions.proxy`. @default none */
  readonly proxy?: string | undefined;
}

export class JsonClient {
  readonly #client;

  constructor({ connections, proxy }: JsonConnections) {
    this.#client = createHttpClient({
      connections,
      idleConnections: connections,
      ...(proxy !== undefined && { proxy: new URL(proxy) }),
    });
  }

  /** @param repeatable false: a request that may count twice is not sent again @throws {ServiceBusy} */
  async send(request: JsonRequest, { signal }: RequestLimit, repeatable = true): Promise<JsonAnswer> {
    const { method, url, headers, body, form, policy = 'any' } = request;
    const content = form === undefined ? body && JSON.stringify(body) : String(new URLSearchParams(form));
    try {
      const answer = await this.#client.send({
        url: new URL(url),
        method,
        headers: {
          accept: 'application/json',
          ...(content !== undefined && {
            'content-type': form === undefined ? 'application/json' : 'application/x-www-form-urlencoded',
          }),
          ...headers,
        },
        body: content === undefined ? undefined : Buffer.from(content),
        policy,
        repeatable,
        signal,
      });
      const status = answer.statusCode ?? 0;
      const text = await textOf(answer);
      if (status >= 500 || PASSING.has(status))
        throw new ServiceBusy(
          `it answers with HTTP status ${status}`,
          // Seconds; services that answer with a date are asked again by the own pauses.
          1000 * (Number(answer.headers['retry-after']) || 0),
        );
      return { status, body: objectOf(text), text };
    } catch (error) {
      if (error instanceof ServiceBusy) throw error;
      const { code = 'the connection broke' } = error as NodeJS.ErrnoException;
      throw new ServiceBusy(
        policy === 'public' && NO_ADDRESS.has(code)
          ? 'it has no public address'
          : `it can't be reached (${code})`,
      );
    }
  }

  close(): void {
    this.#client.close();
  }
}

async function textOf(answer: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of answer) {
    length += piece.length;
    // Leaving the loop destroys the response and its connection.
    if (length > MAX_ANSWER_BYTES) return '';
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

function objectOf(text: string): JsonAnswer['body'] {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

export function isObject(value: unknown): value is { readonly [member: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
