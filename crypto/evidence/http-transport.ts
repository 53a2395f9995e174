/** HTTP to time-stamp authorities, OCSP responders and CRL servers, with connections kept open between requests. */
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip, type ZlibOptions } from 'node:zlib';
import { machineAfter, machineTime, machineWait } from '../core/system-time.ts';
import { CryptoError } from '../core/types.ts';
import type { AuthorityRequest, AuthorityTransport } from './authorities.ts';
import {
  AddressNotAllowed,
  type AddressPolicy,
  createHttpClient,
  type HttpClientOptions,
} from './http-client.ts';

export interface HttpTransport extends AuthorityTransport {
  /** Closes idle connections; requests in progress fail. */
  close(): void;
}

export interface HttpTransportOptions extends Pick<HttpClientOptions, 'resolve'> {
  /** Measures time-outs. @default that of the machine */
  readonly clock?: {
    /** Calls `run` after that many milliseconds; the result cancels that. */
    after(ms: number, run: () => void): () => void;
  };
  /** Connections open to one authority at once. @default 8 */
  readonly connections?: number;
  /** Lets certificates name addresses that are not public. @default false */
  readonly allowPrivate?: boolean;
  /** Hosts whose addresses need not be public. @default none */
  readonly issuerHosts?: readonly string[];
  /** Added to the error for an address that is not public: what an operator can do. */
  readonly remedy?: string;
}

/** Settings that callers of authorities may leave out. */
export const ASKING = { now: machineTime, wait: machineWait, retries: 1, timeoutMs: 10_000 } as const;

const MAX_REDIRECTS = 3;

/** HTTP statuses with an answer: a time-stamp may count as created, and a proxy may say that it sends a copy. */
const ANSWERS: ReadonlySet<number> = new Set([200, 201, 203]);

/** HTTP statuses of a redirect; 303 turns into a GET, which none of these protocols means. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 307, 308]);

/**
 * Creates a transport over HTTP. Time-stamp authorities may be anywhere; OCSP responders and the servers of CRLs and
 * certificates, which certificates name, only at public addresses.
 * Source: RFC 3161 §3.4; RFC 6960 appendix A.
 */
export function createHttpTransport(options: HttpTransportOptions = {}): HttpTransport {
  const { clock, connections = 8, resolve, allowPrivate = false, issuerHosts = [], remedy } = options;
  const after = clock === undefined ? machineAfter : clock.after.bind(clock);
  const client = createHttpClient({ connections, idleConnections: connections, ...(resolve && { resolve }) });
  /** Redirects are refused: they lead to addresses that the operator did not configure. */
  const policyOf = (request: AuthorityRequest, url: URL, start: URL): AddressPolicy => {
    const fromOperator =
      (request.urlFrom === 'operator' && url.origin === start.origin) || issuerHosts.includes(url.hostname);
    return allowPrivate || fromOperator ? 'any' : 'public';
  };
  const send = (request: AuthorityRequest, url: URL, start: URL, signal: AbortSignal) => {
    const { authorization, ...others } = request.headers;
    // Credentials are sent to the configured authority only, not to the target of a redirect.
    const sendsCredentials = authorization !== undefined && url.origin === start.origin;
    return client.send({
      url,
      method: request.method,
      headers: { ...others, ...(sendsCredentials && { authorization }) },
      body: request.body,
      policy: policyOf(request, url, start),
      repeatable: true,
      signal,
    });
  };
  return {
    async exchange(request) {
      const controller = new AbortController();
      const stop = after(request.timeout, () => controller.abort());
      try {
        return await follow(request, (url, start) => send(request, url, start, controller.signal));
      } catch (error) {
        throw translated(error, request, controller.signal, remedy);
      } finally {
        stop();
      }
    },
    close: () => client.close(),
  };
}

async function follow(
  request: AuthorityRequest,
  send: (url: URL, start: URL) => Promise<IncomingMessage>,
): Promise<Buffer> {
  let url = addressOf(request.url, request.url);
  const start = url;
  for (let redirects = 0; ; redirects++) {
    const response = await send(url, start);
    const { statusCode = 0 } = response;
    if (ANSWERS.has(statusCode)) return await bodyOf(response, request, url);
    response.destroy();
    const location = response.headers.location;
    if (!REDIRECTS.has(statusCode) || location === undefined) throw statusError(statusCode, url);
    if (redirects >= MAX_REDIRECTS) {
      throw new CryptoError(
        'authority.refused',
        `${nameOf(start)} redirects more than ${MAX_REDIRECTS} times.`,
      );
    }
    const next = addressOf(location, url.href);
    if (next.protocol !== 'https:' && next.protocol !== url.protocol) {
      throw new CryptoError('authority.refused', `${nameOf(start)} redirects from https to http.`);
    }
    url = next;
  }
}

/** @param location absolute, or relative to `base` */
function addressOf(location: string, base: string): URL {
  const url = URL.canParse(location, base) ? new URL(location, base) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new CryptoError('authority.refused', 'The address of an authority is not an http or https URL.');
  }
  // RFC 2606 §2: reserved names, as in development certificates, are not resolved.
  if (url.hostname.endsWith('.invalid')) {
    throw new CryptoError(
      'authority.unreachable',
      `${nameOf(url)} ends in .invalid, a reserved name that no server has.`,
    );
  }
  return url;
}

async function bodyOf(response: IncomingMessage, request: AuthorityRequest, url: URL): Promise<Buffer> {
  const tooLong = () =>
    new CryptoError('authority.refused', `${nameOf(url)} answers with more than ${request.maxBytes} bytes.`);
  if (Number(response.headers['content-length'] ?? 0) > request.maxBytes) {
    response.destroy();
    throw tooLong();
  }
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    length += piece.length;
    // Leaving the loop destroys the response, and with it the connection.
    if (length > request.maxBytes) throw tooLong();
    pieces.push(piece);
  }
  const body = Buffer.concat(pieces);
  // Servers and caches send GZIP unasked, and some do not say so. No answer of an authority begins like it.
  if (body[0] !== 0x1f || body[1] !== 0x8b) return body;
  try {
    return await unzipped(body, { maxOutputLength: request.maxBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLong();
    throw new CryptoError('authority.refused', `${nameOf(url)} answers with damaged GZIP.`);
  }
}

const unzipped = promisify<Buffer, ZlibOptions, Buffer>(gunzip);

/** Statuses below 500 after which a later request may succeed: time-out, too early, too many. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 425, 429]);

function statusError(status: number, url: URL): CryptoError {
  const passing = status >= 500 || PASSING_STATUSES.has(status);
  const code = passing ? 'authority.unreachable' : 'authority.refused';
  return new CryptoError(code, `${nameOf(url)} answers with HTTP status ${status}.`);
}

function translated(
  error: unknown,
  request: AuthorityRequest,
  signal: AbortSignal,
  remedy = 'Certificates may name public addresses only; see allowPrivate and issuerHosts.',
): CryptoError {
  if (error instanceof CryptoError) return error;
  if (error instanceof AddressNotAllowed) {
    return new CryptoError('authority.refused', `${error.host} has no public address. ${remedy}`);
  }
  const name = nameOf(addressOf(request.url, request.url));
  const reason = signal.aborted
    ? `no answer within ${request.timeout} milliseconds`
    : ((error as NodeJS.ErrnoException).code ?? 'the connection broke');
  return new CryptoError('authority.unreachable', `${name} can't be reached: ${reason}.`);
}

/** Without user, password, query and fragment. */
function nameOf(url: URL): string {
  return `${url.origin}${url.pathname}`;
}
