/** The head of a request of `node:http`, in the shape of `port.ts`. */
import type { IncomingMessage } from 'node:http';
import type { RequestHead } from './port.ts';

/** Scheme and authority of an absolute target, which names no user. Source: RFC 9112 §3.2.2, RFC 9110 §4.2.4. */
const ABSOLUTE = /^https?:\/\/([^/?#@]*)(?=[/?#]|$)/i;

export class NodeRequest implements RequestHead {
  readonly #request: IncomingMessage;
  readonly #path: string;
  readonly #query: string | undefined;
  /** Of an absolute target, which counts in place of the `Host` header. */
  readonly #authority: string | undefined;
  /** Names, in lower case, and values. */
  #headers: readonly (readonly [name: string, value: string])[] | undefined;

  constructor(request: IncomingMessage) {
    this.#request = request;
    const target = utf8(request.url ?? '/');
    const [start = '', authority] = target.startsWith('/') ? [] : (ABSOLUTE.exec(target) ?? []);
    this.#authority = authority;
    const local = target.slice(start.length);
    const mark = local.indexOf('?');
    const path = mark < 0 ? local : local.slice(0, mark);
    this.#path = path === '' ? '/' : path;
    this.#query = mark < 0 ? undefined : local.slice(mark + 1);
  }

  getCaseSensitiveMethod(): string {
    return this.#request.method ?? '';
  }

  getUrl(): string {
    return this.#path;
  }

  getQuery(): string | undefined {
    return this.#query;
  }

  getHeader(lowerCaseName: string): string {
    if (lowerCaseName === 'host' && this.#authority !== undefined) return this.#authority;
    return this.#all().find(([name]) => name === lowerCaseName)?.[1] ?? '';
  }

  forEach(tell: (name: string, value: string) => void): void {
    for (const [name, value] of this.#all()) tell(name, value);
  }

  #all(): readonly (readonly [name: string, value: string])[] {
    if (this.#headers !== undefined) return this.#headers;
    const headers: (readonly [name: string, value: string])[] = [];
    const { rawHeaders } = this.#request;
    for (let index = 0; index + 1 < rawHeaders.length; index += 2)
      headers.push([(rawHeaders[index] ?? '').toLowerCase(), rawHeaders[index + 1] ?? '']);
    this.#headers = headers;
    return headers;
  }
}

/** Node reads each byte of a target as one character; the other library reads UTF-8. */
function utf8(text: string): string {
  return /[\u0080-\u00ff]/.test(text) ? Buffer.from(text, 'latin1').toString('utf8') : text;
}
