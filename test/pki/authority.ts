/**
 * Local HTTP server for time-stamps and revocation information, for a PKI whose certificates name it. Its faults
 * simulate those of real authorities.
 */

import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '@sealwright/runtime';
import type { HttpTransport } from '@sealwright/signatures';
import type { EvidenceSource, TimestampAuthority } from '#crypto/evidence/authorities.js';
import { createEvidenceSource } from '#crypto/evidence/evidence-source.js';
import { createTimestampAuthority } from '#crypto/evidence/timestamp-authority.js';
import type { TrustSettings } from '#crypto/validation/trust.js';
import { readCertificate } from '#crypto/x509/certificate.js';
import { createAuthorityTransport } from '../../actors/shared/signing/authority-transport.ts';
import {
  type AuthorityPki,
  type AuthorityPkiOptions,
  makeAuthorityPki,
  type TestCa,
} from './authority-pki.ts';
import {
  answerOcspRequest,
  makeCrl,
  type OcspFault,
  type Revocation,
  serialOf,
} from './revocation-answers.ts';
import { answerTimestampRequest, type TokenFault } from './tokens.ts';

export type Service = 'timestamp' | 'ocsp' | 'crl' | 'ca';

/**
 * `slow`: never responds; `down`: closes the connection; `busy`: HTTP 503; `timed-out`: HTTP 408; `missing`: HTTP 404; `garbage`: 200 with
 * arbitrary bytes; `oversize`: 200 with 30 MB; `stale`: a response that expired an hour ago. The others change the
 * content of a token or an OCSP response.
 */
export type Fault =
  | 'slow'
  | 'down'
  | 'busy'
  | 'timed-out'
  | 'missing'
  | 'garbage'
  | 'oversize'
  | 'stale'
  | TokenFault
  | OcspFault;

export interface TestAuthority {
  readonly pki: AuthorityPki;
  readonly baseUrl: string;
  readonly timestampUrl: string;
  /** Time-stamps of this authority, and evidence for its certificates, both over HTTP. */
  readonly services: { readonly timestamps: TimestampAuthority; readonly evidence: EvidenceSource };
  /** Trust settings: the root as anchor, revocation `hard`, requested from this authority. */
  readonly trust: TrustSettings;
  readonly transport: HttpTransport;
  /** Number of requests so far, by service, failed ones included. */
  readonly requests: { readonly [service in Service]: number };
  /** Revokes a certificate since `at` (milliseconds since the epoch). */
  revoke(certificate: Buffer, at: number, reason?: number): void;
  /** Breaks a service for that many requests, or until `mend`. */
  break(service: Service, fault: Fault, times?: number): void;
  mend(service: Service): void;
  /** Sets the time of its time-stamps and responses, milliseconds since the epoch; undefined: the system time. */
  setTime(at: number | undefined): void;
  /** Creates services with empty caches and the given options. */
  freshServices(options?: FreshOptions): TestAuthority['services'];
  close(): Promise<void>;
}

export interface FreshOptions {
  /** Address of the time-stamps. @default that of the authority */
  readonly url?: string;
  /** Milliseconds. @default 60,000: a busy machine answers late */
  readonly timeoutMs?: number;
  /** @default 0 */
  readonly retries?: number;
  /** @default 60 */
  readonly cacheMinutes?: number;
  readonly intermediates?: readonly Buffer[];
  readonly issuerHosts?: readonly string[];
  readonly username?: string;
  readonly password?: string;
  readonly now?: () => number;
  readonly wait?: (ms: number) => Promise<void>;
}

export type AuthorityOptions = Partial<Omit<AuthorityPkiOptions, 'baseUrl'>> & {
  /** Credentials required for time-stamps. */
  readonly credentials?: { readonly username: string; readonly password: string };
  /** Validity of revocation information, milliseconds. @default a week */
  readonly freshFor?: number;
};

const HOUR = 3_600_000;
const WEEK = 7 * 24 * HOUR;

/** Starts on a free port of 127.0.0.1; the caller closes it. */
export async function startAuthority(options: AuthorityOptions = {}): Promise<TestAuthority> {
  const revoked = new Map<string, Map<string, Revocation>>();
  const faults = new Map<Service, { readonly fault: Fault; left: number }>();
  const requests = { timestamp: 0, ocsp: 0, crl: 0, ca: 0 };
  let time: number | undefined;
  const now = () => time ?? Date.now();
  const freshFor = options.freshFor ?? WEEK;

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.writeHead(400).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const pki = makeAuthorityPki({ now: Date.now(), ...options, baseUrl });
  const cas: readonly TestCa[] = [pki.root, pki.issuing, pki.stamping];

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const [, place = '', id = ''] = (request.url ?? '').replace(/\?.*$/, '').split('/');
    if (!isService(place)) return void response.writeHead(404).end();
    requests[place]++;
    const fault = takeFault(place);
    if (fault !== undefined && breakResponse(fault, response)) return;
    if (place === 'timestamp' && !isKnown(request)) return void response.writeHead(401).end();
    const ca = cas.find((one) => one.id === id);
    const answer = place === 'timestamp' ? stamp(body, fault) : answerOf(place, ca, body, fault);
    if (answer === undefined) return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': CONTENT_TYPES[place], 'content-length': answer.length });
    response.end(answer);
  }

  function takeFault(service: Service): Fault | undefined {
    const broken = faults.get(service);
    if (broken === undefined) return undefined;
    if (--broken.left <= 0) faults.delete(service);
    return broken.fault;
  }

  function isKnown({ headers }: IncomingMessage): boolean {
    if (options.credentials === undefined) return true;
    const { username, password } = options.credentials;
    return headers.authorization === `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  }

  function stamp(query: Buffer, fault: Fault | undefined): Buffer {
    const { key, certificate } = pki.timestampSigner;
    const maker = { key, certificate, chain: [pki.stamping.certificate] };
    return answerTimestampRequest(query, maker, {
      at: now(),
      serial: randomBytes(12),
      fault: fault as TokenFault | undefined,
    });
  }

  function answerOf(
    service: 'ocsp' | 'crl' | 'ca',
    ca: TestCa | undefined,
    query: Buffer,
    fault: Fault | undefined,
  ): Buffer | undefined {
    if (ca === undefined) return undefined;
    if (service === 'ca') return ca.certificate;
    const stale = fault === 'stale';
    const times = {
      thisUpdate: stale ? now() - 2 * HOUR : now() - 1000,
      nextUpdate: stale ? now() - HOUR : now() + freshFor,
    };
    const known = revoked.get(ca.id) ?? new Map<string, Revocation>();
    if (service === 'crl') return makeCrl({ issuer: ca, revoked: known, ...times });
    return answerOcspRequest(query, {
      ...times,
      producedAt: stale ? now() - 2 * HOUR : now(),
      revoked: known,
      issuer: ca.certificate,
      responder: ca.responder,
      fault: fault as OcspFault | undefined,
    });
  }

  const transport = createAuthorityTransport({ clock: systemClock, allowPrivate: true, issuerHosts: [] });
  const timestampUrl = `${baseUrl}/timestamp`;
  const freshServices = (fresh: FreshOptions = {}): TestAuthority['services'] => {
    const settings = {
      transport,
      now,
      timeoutMs: 60_000,
      retries: 0,
      wait: () => Promise.resolve(),
      ...options.credentials,
      ...fresh,
    };
    return {
      timestamps: createTimestampAuthority({ url: timestampUrl, random: randomBytes, ...settings }),
      evidence: createEvidenceSource({
        anchors: [pki.root.certificate],
        intermediates: [pki.issuing.certificate, pki.stamping.certificate],
        cacheMinutes: 60,
        issuerHosts: [],
        ...settings,
      }),
    };
  };
  const services = freshServices();
  return {
    pki,
    baseUrl,
    timestampUrl,
    services,
    trust: {
      anchors: [pki.root.certificate],
      intermediates: [],
      revocation: 'hard',
      online: services.evidence,
    },
    transport,
    requests,
    revoke(certificate, at, reason) {
      const ca = cas.find((one) => isIssuedBy(certificate, one));
      if (ca === undefined) throw new Error('Not a certificate of this authority.');
      const known = revoked.get(ca.id) ?? new Map<string, Revocation>();
      known.set(serialOf(certificate), { at, ...(reason === undefined ? {} : { reason }) });
      revoked.set(ca.id, known);
    },
    break(service, fault, times = Number.POSITIVE_INFINITY) {
      faults.set(service, { fault, left: times });
    },
    mend(service) {
      faults.delete(service);
    },
    setTime(at) {
      time = at;
    },
    freshServices,
    async close() {
      transport.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const CONTENT_TYPES: { readonly [service in Service]: string } = {
  timestamp: 'application/timestamp-reply',
  ocsp: 'application/ocsp-response',
  crl: 'application/pkix-crl',
  ca: 'application/pkix-cert',
};

function isService(text: string): text is Service {
  return text in CONTENT_TYPES;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Applies a connection fault; true when the response is handled. */
function breakResponse(fault: Fault, response: ServerResponse): boolean {
  switch (fault) {
    case 'slow':
      return true;
    case 'down':
      response.destroy();
      return true;
    case 'busy':
      response.writeHead(503).end();
      return true;
    case 'timed-out':
      response.writeHead(408).end();
      return true;
    case 'missing':
      response.writeHead(404).end();
      return true;
    case 'garbage':
      response.writeHead(200).end('<html>It works!</html>');
      return true;
    case 'oversize':
      response.writeHead(200).end(Buffer.alloc(30_000_000));
      return true;
    default:
      return false;
  }
}

function isIssuedBy(certificate: Buffer, ca: TestCa): boolean {
  return readCertificate(certificate).signedBy(readCertificate(ca.certificate));
}
