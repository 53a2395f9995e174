/**
 * An HTTP client for time-stamp authorities, OCSP responders, CRL and certificate servers.
 *
 * A host name is resolved once for each connection. The addresses are checked against the policy of the request, and the
 * connection goes to one of the addresses that passed, so a name that resolves differently the next moment (DNS
 * rebinding) reaches nothing else. Redirects are not followed. Policies share no connections.
 *
 * Source: docs/decisions/0052-outgoing-requests.md.
 */
import { lookup as systemLookup } from 'node:dns/promises';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { tunnelAgent } from './proxy-tunnel.ts';
import { isPublicAddress, literalAddress } from './public-addresses.ts';

/**
 * `any`: for addresses that an operator configured. `public`: for addresses that come from certificates, files or
 * tenants; only globally reachable IP addresses are connected to.
 */
export type AddressPolicy = 'any' | 'public';

/** An IP address of a host name. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

export interface HttpClientOptions {
  /** Connections open to one origin at once. @default unlimited */
  readonly connections?: number;
  /** Idle connections kept for one origin. @default 16 */
  readonly idleConnections?: number;
  /** Milliseconds after which an idle connection is closed. @default until the server closes it */
  readonly idleMs?: number;
  /** False: accepts any certificate of a server, for connections that stay on this machine. @default true */
  readonly checkCertificates?: boolean;
  /** http or https URL of a proxy for https requests of the policy `any`, save those to this machine. @default none */
  readonly proxy?: URL | undefined;
  /** @default the system's resolver */
  readonly resolve?: (name: string) => Promise<readonly ResolvedAddress[]>;
}

export interface OutgoingRequest {
  /** http or https. */
  readonly url: URL;
  readonly method: 'GET' | 'HEAD' | 'POST';
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** A stream needs a `content-length` header. */
  readonly body?: Buffer | Readable | undefined;
  readonly policy: AddressPolicy;
  /**
   * True: retried once when the server closes a kept-alive connection during the request, which may process it twice.
   * For idempotent requests without a stream body.
   */
  readonly repeatable: boolean;
  /** Aborts the request or the reading of its response. */
  readonly signal: AbortSignal;
}

export interface HttpClient {
  /**
   * Resolves with the status and headers of the response, for any status.
   * @throws {AddressNotAllowed} when the policy allows none of the host's addresses
   * @throws the reason of an aborted signal, or the system's error
   */
  send(request: OutgoingRequest): Promise<IncomingMessage>;
  /** Closes idle connections; requests in progress fail. */
  close(): void;
}

/** Error when the policy of a request allows no address of its host. */
export class AddressNotAllowed extends Error {
  readonly code = 'address.not-public';
  readonly host: string;
  constructor(host: string) {
    super(`${host} has no public address.`);
    this.name = 'AddressNotAllowed';
    this.host = host;
  }
}

/** Maximum size of response headers, bytes. */
const MAX_HEADER_BYTES = 16_384;

/**
 * Milliseconds for an address while there are others. The default of Node, 250, gives up reachable ones on slow networks
 * and in a busy process.
 */
const ADDRESS_TIMEOUT_MS = 2500;

interface Connections {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
  readonly lookup: LookupFunction;
  /** For https requests to other machines; undefined: as all. */
  readonly tunnel?: HttpsAgent | undefined;
}

export function createHttpClient(options: HttpClientOptions = {}): HttpClient {
  const { connections = Number.POSITIVE_INFINITY, idleConnections = 16, idleMs, resolve } = options;
  const { checkCertificates = true, proxy } = options;
  const settings = {
    keepAlive: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
    maxSockets: connections,
    maxFreeSockets: idleConnections,
    ...(idleMs !== undefined && { timeout: idleMs }),
  };
  const secure = { ...settings, rejectUnauthorized: checkCertificates };
  const connectionsOf = (policy: AddressPolicy): Connections => ({
    http: new HttpAgent(settings),
    https: new HttpsAgent(secure),
    lookup: lookupFor(policy, resolve ?? resolveAll),
  });
  const tunnel = proxy && tunnelAgent(proxy, secure);
  const byPolicy = { any: { ...connectionsOf('any'), tunnel }, public: connectionsOf('public') };
  return {
    async send(request) {
      const { url, policy, signal } = request;
      const literal = literalAddress(url);
      if (literal !== undefined && !allows(policy, literal)) throw new AddressNotAllowed(literal);
      try {
        return await attempt(request, byPolicy[policy]);
      } catch (error) {
        throw signal.aborted ? signal.reason : error;
      }
    },
    close() {
      for (const { http, https } of Object.values(byPolicy)) {
        http.destroy();
        https.destroy();
      }
      tunnel?.destroy();
    },
  };
}

function allows(policy: AddressPolicy, address: string): boolean {
  return policy === 'any' || isPublicAddress(address);
}

/** Creates a resolver that returns only the addresses the policy allows. */
function lookupFor(
  policy: AddressPolicy,
  resolve: (name: string) => Promise<readonly ResolvedAddress[]>,
): LookupFunction {
  return (name, { all }, done) => {
    resolve(name).then(
      (found) => {
        const allowed = found.filter(({ address }) => allows(policy, address));
        const [first] = allowed;
        if (first === undefined) done(new AddressNotAllowed(name), '', 0);
        else if (all) done(null, allowed);
        else done(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => done(error, '', 0),
    );
  };
}

async function resolveAll(name: string): Promise<readonly ResolvedAddress[]> {
  return systemLookup(name, { all: true, verbatim: true });
}

/** True for an address of this machine. */
function isHere({ hostname }: URL): boolean {
  return /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}

function attempt(request: OutgoingRequest, connections: Connections): Promise<IncomingMessage> {
  const { url, method, headers, body, repeatable, signal } = request;
  return new Promise((resolve, reject) => {
    const secure = url.protocol === 'https:';
    const sent = (secure ? httpsRequest : httpRequest)(
      url,
      {
        method,
        headers: { ...headers, ...(Buffer.isBuffer(body) && { 'content-length': String(body.length) }) },
        agent: secure
          ? ((isHere(url) ? undefined : connections.tunnel) ?? connections.https)
          : connections.http,
        lookup: connections.lookup,
        signal,
        maxHeaderSize: MAX_HEADER_BYTES,
      },
      resolve,
    );
    const isStream = body !== undefined && !Buffer.isBuffer(body);
    // After an answer that switches the protocol (101), neither a response nor an error comes.
    sent.on('close', () => reject(new Error('the connection ended without an answer')));
    sent.on('error', (error: NodeJS.ErrnoException) => {
      const stale = sent.reusedSocket && error.code === 'ECONNRESET' && !signal.aborted;
      if (stale && repeatable && !isStream) resolve(attempt(request, connections));
      else reject(error);
    });
    if (!isStream) sent.end(body);
    else pipeline(body, sent).catch((error: unknown) => sent.destroy(error as Error));
  });
}
