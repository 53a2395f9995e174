/** HTTP to time-stamp authorities, OCSP responders and CRL servers, with connections kept open between requests. */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { type AuthorityRequest, type AuthorityTransport, CryptoError } from '../../crypto/index.ts';
import type { Clock } from '../../runtime/index.ts';

export interface HttpTransport extends AuthorityTransport {
  /** Ends idle connections; requests under way fail. */
  close(): void;
}

export interface HttpTransportOptions {
  readonly clock: Pick<Clock, 'after'>;
  /** Connections open to one authority at once. @default 8 */
  readonly connections?: number;
}

const MAX_REDIRECTS = 3;

/** HTTP statuses that lead elsewhere; 303 turns into a GET, which none of these protocols means. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 307, 308]);

export function createAuthorityTransport({ clock, connections = 8 }: HttpTransportOptions): HttpTransport {
  const settings = { keepAlive: true, maxSockets: connections, maxFreeSockets: connections };
  const agents = { http: new HttpAgent(settings), https: new HttpsAgent(settings) };
  return {
    async exchange(request) {
      const controller = new AbortController();
      const stop = clock.after(request.timeout, () => controller.abort());
      try {
        return await follow(request, agents, controller.signal);
      } catch (error) {
        throw translated(error, request, controller.signal);
      } finally {
        stop();
      }
    },
    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

interface Agents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

async function follow(request: AuthorityRequest, agents: Agents, signal: AbortSignal): Promise<Buffer> {
  let url = addressOf(request.url, request.url);
  const start = url;
  for (let redirects = 0; ; redirects++) {
    const response = await send(request, url, start, agents, signal);
    const { statusCode = 0 } = response;
    if (statusCode === 200) return await bodyOf(response, request, url);
    response.destroy();
    const location = response.headers.location;
    if (!REDIRECTS.has(statusCode) || location === undefined) throw statusError(statusCode, url);
    if (redirects >= MAX_REDIRECTS) {
      throw new CryptoError('authority.refused', `${nameOf(start)} leads from one address to the next.`);
    }
    const next = addressOf(location, url.href);
    if (next.protocol !== start.protocol) {
      throw new CryptoError(
        'authority.refused',
        `${nameOf(start)} leads to another scheme, ${next.protocol}`,
      );
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
  // RFC 2606 §2: such names, as in development certificates, lead nowhere; no resolver need hear of them.
  if (url.hostname.endsWith('.invalid')) {
    throw new CryptoError('authority.unreachable', `${nameOf(url)} is the address of nobody.`);
  }
  return url;
}

function send(
  request: AuthorityRequest,
  url: URL,
  start: URL,
  agents: Agents,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { authorization, ...others } = request.headers;
  // Credentials are for the authority they were given for, not for where it leads.
  const mayKnow = authorization !== undefined && url.origin === start.origin;
  const headers = {
    ...others,
    ...(mayKnow ? { authorization } : {}),
    ...(request.body === undefined ? {} : { 'content-length': String(request.body.length) }),
  };
  return new Promise((resolve, reject) => {
    const secure = url.protocol === 'https:';
    const sent = (secure ? httpsRequest : httpRequest)(
      url,
      { method: request.method, headers, signal, agent: secure ? agents.https : agents.http },
      resolve,
    );
    sent.on('error', (error: NodeJS.ErrnoException) => {
      // The server ended a kept connection at the moment it was used again; nothing was wrong with the request.
      const stale = sent.reusedSocket && error.code === 'ECONNRESET' && !signal.aborted;
      if (stale) resolve(send(request, url, start, agents, signal));
      else reject(error);
    });
    sent.end(request.body);
  });
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
  return Buffer.concat(pieces);
}

function statusError(status: number, url: URL): CryptoError {
  const passing = status >= 500 || status === 429;
  const code = passing ? 'authority.unreachable' : 'authority.refused';
  return new CryptoError(code, `${nameOf(url)} answers with HTTP status ${status}.`);
}

function translated(error: unknown, request: AuthorityRequest, signal: AbortSignal): CryptoError {
  if (error instanceof CryptoError) return error;
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
