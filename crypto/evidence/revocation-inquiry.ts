/**
 * Requests to OCSP responders and CRL servers, for delta CRLs too; responses are verified before they are cached or
 * returned.
 *
 * Cache of authority responses until they expire; concurrent requests for one key share one exchange.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { Asn1Error, encoded, firstElement, readElement } from '../asn1/read.ts';
import { NULL, octetString, oid, sequence } from '../asn1/write.ts';
import { parseSignedData } from '../cms/parse.ts';
import { CryptoError, type CryptoErrorCode } from '../core/types.ts';
import { type Certificate, certificatesIn, readableCertificates } from '../x509/certificate.ts';
import { holderText } from '../x509/holder.ts';
import {
  type AuthorityRequest,
  type AuthorityTransport,
  type Evidence,
  publicName,
  type RetrySettings,
  withRetries,
} from './authorities.ts';
import { readCrl } from './crl.ts';
import { basicOcspIn, readOcsp, responderOf } from './ocsp.ts';
import { type RevocationStatus, revocationStatus } from './revocation-status.ts';

/** A response with its expiry time, milliseconds since the epoch. */
interface ExpiringValue<T> {
  readonly value: T;
  readonly until: number;
}

/** Limit of entries in all caches of a thread: a small entry costs far more than its bytes. */
const MAX_ENTRIES = 2048;

interface AnswerCache<T> {
  /** Returns the cached value, or requests it; concurrent callers wait for the same request. */
  get(key: string, now: number, ask: () => Promise<ExpiringValue<T>>): Promise<T>;
  /** Removes a response that turned out to be unusable. */
  delete(key: string): void;
}

/**
 * Limits the bytes of all caches of a thread together: each profile has its own caches, and CRLs of thirty megabytes
 * are common. The oldest entry of any cache is evicted first.
 */
export class CacheLimit {
  readonly #entries: LRUCache<symbol, { readonly bytes: number; readonly drop: () => void }>;

  constructor(most: number) {
    this.#entries = new LRUCache({
      max: MAX_ENTRIES,
      maxSize: most,
      sizeCalculation: ({ bytes }) => bytes,
      dispose: ({ drop }, _, reason) => {
        if (reason === 'evict') drop();
      },
    });
  }

  /** Reserves bytes. @returns the token for `release`; undefined when the size exceeds the whole limit */
  reserve(bytes: number, drop: () => void): symbol | undefined {
    const place = Symbol();
    // The cache wants positive sizes.
    return this.#entries.set(place, { bytes: Math.max(1, bytes), drop }).has(place) ? place : undefined;
  }

  release(place: symbol): void {
    this.#entries.delete(place);
  }
}

const SHARED = new CacheLimit(48 << 20);

interface CacheEntry<T> extends ExpiringValue<T> {
  readonly place: symbol;
}

/**
 * Creates a cache.
 * @param most limit of entries; the least recently requested are evicted first
 * @param sizeOf bytes of a response
 * @param limit limit shared with other caches. @default that of the thread
 */
export function createAnswerCache<T>(
  most: number,
  sizeOf: (value: T) => number,
  limit: CacheLimit = SHARED,
): AnswerCache<T> {
  const cache = new LRUCache<string, CacheEntry<T>>({
    max: most,
    dispose: ({ place }, _, reason) => {
      if (reason === 'evict') limit.release(place);
    },
  });
  const pending = new Map<string, Promise<ExpiringValue<T>>>();
  const forget = (key: string): void => {
    const cached = cache.get(key);
    if (cached !== undefined) limit.release(cached.place);
    cache.delete(key);
  };
  const keep = (key: string, answer: ExpiringValue<T>): void => {
    forget(key);
    const place = limit.reserve(sizeOf(answer.value), () => cache.delete(key));
    if (place === undefined) return;
    cache.set(key, { ...answer, place });
  };
  return {
    async get(key, now, ask) {
      const cached = cache.get(key);
      if (cached !== undefined && now < cached.until) return cached.value;
      let underway = pending.get(key);
      if (underway === undefined) {
        underway = ask()
          .then((answer) => {
            keep(key, answer);
            return answer;
          })
          .finally(() => pending.delete(key));
        pending.set(key, underway);
      }
      const answer = await underway;
      return answer.value;
    },
    delete: forget,
  };
}

export interface InquirySettings extends RetrySettings {
  readonly transport: AuthorityTransport;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Maximum age of cached responses; they are requested again when they expire earlier. */
  readonly cacheMinutes: number;
  /** Time-out of one exchange, milliseconds. */
  readonly timeoutMs: number;
  /**
   * Host names, in lower case, from which missing issuers may be fetched (caIssuers, RFC 5280 §4.2.2.1). Such an
   * address is contacted before its certificate is known to lead to a trust anchor. Empty: none is.
   */
  readonly issuerHosts: readonly string[];
}

export interface RevocationInquiry {
  /**
   * Returns the first response that gives the status of one certificate at `at`: OCSP, then CRL.
   * @throws {CryptoError} `authority.unreachable`, `authority.refused`, `revocation.missing`; the message names the
   *   certificate and every address that was tried
   */
  about(certificate: Certificate, issuer: Certificate, at: number): Promise<Answered>;
  /**
   * Fetches issuer certificates from the addresses that a certificate names, if `issuerHosts` has them; empty without
   * a response.
   */
  issuersOf(certificate: Certificate): Promise<readonly Certificate[]>;
}

type KnownStatus = Exclude<RevocationStatus, { status: 'unknown' }>;

export interface Answered {
  readonly status: KnownStatus;
  /** Basis of the status: the response, its responder, and the revocation information for that one. */
  readonly evidence: Evidence;
}

const MAX_OCSP = 64 * 1024;
const MAX_CRL = 32 << 20;
const MAX_CERTIFICATES = 256 * 1024;

const MAX_OCSPS = 2_000;
/** Limit of cached CRLs: they can be large, and a signer's chain needs few. */
const MAX_CRLS = 32;
const MAX_ISSUERS = 200;

/** Limit of addresses of one kind tried for one certificate. */
const MAX_URLS = 4;

export function createInquiry(settings: InquirySettings): RevocationInquiry {
  return new Inquiry(settings);
}

class Inquiry implements RevocationInquiry {
  readonly #ocsps = createAnswerCache<Buffer>(MAX_OCSPS, ({ length }) => length);
  readonly #crls = createAnswerCache<Buffer>(MAX_CRLS, ({ length }) => length);
  readonly #issuers = createAnswerCache<readonly Certificate[]>(MAX_ISSUERS, (certificates) =>
    certificates.reduce((bytes, { der }) => bytes + der.length, 0),
  );

  constructor(private readonly settings: InquirySettings) {}

  async about(certificate: Certificate, issuer: Certificate, at: number): Promise<Answered> {
    const tries = [
      ...certificate.ocspUrls.slice(0, MAX_URLS).map((url) => ({ url, ask: this.#askOcsp })),
      ...certificate.crlUrls.slice(0, MAX_URLS).map((url) => ({ url, ask: this.#askCrl })),
    ];
    const failures: CryptoError[] = [];
    for (const { url, ask } of tries) {
      try {
        return await ask.call(this, url, certificate, issuer, at);
      } catch (error) {
        if (!(error instanceof CryptoError)) throw error;
        failures.push(error);
      }
    }
    throw noAnswer(certificate, failures);
  }

  async issuersOf(certificate: Certificate): Promise<readonly Certificate[]> {
    const urls = certificate.issuerUrls.filter((url) => this.settings.issuerHosts.includes(hostOf(url)));
    const found = await Promise.all(
      urls.slice(0, MAX_URLS).map((url) =>
        this.#issuers
          .get(url, this.settings.now(), async () => {
            const answer = await this.#exchange({
              url,
              method: 'GET',
              headers: {},
              maxBytes: MAX_CERTIFICATES,
            });
            return this.#dated(certificatesFrom(answer), undefined);
          })
          .catch(noneIfRefused),
      ),
    );
    return found.flat();
  }

  #exchange(request: Omit<AuthorityRequest, 'timeout' | 'urlFrom'>): Promise<Buffer> {
    return withRetries(this.settings, () =>
      this.settings.transport.exchange({
        ...request,
        timeout: this.settings.timeoutMs,
        urlFrom: 'certificate',
      }),
    );
  }

  #dated<T>(value: T, nextUpdate: number | undefined) {
    const latest = this.settings.now() + this.settings.cacheMinutes * 60_000;
    return { value, until: Math.min(latest, nextUpdate ?? latest) };
  }

  #crlAt(url: string): Promise<Buffer> {
    return this.#crls.get(url, this.settings.now(), async () => {
      const answer = await this.#exchange({ url, method: 'GET', headers: {}, maxBytes: MAX_CRL });
      const der = crlIn(answer);
      return this.#dated(der, understood(url, () => readCrl(der)).nextUpdate);
    });
  }

  /**
   * Adds the CRLs for the responder's certificate, unless it is exempt from checking (RFC 6960 §4.2.2.2.1). A server
   * could insert its own certificates into a response, so only addresses in the certificate of a responder that the
   * issuer authorized, and that signed the response, are contacted.
   */
  async #evidenceWith(ocsp: Buffer, issuer: Certificate): Promise<Evidence> {
    const responder = responderOf(readOcsp(ocsp), {
      issuer,
      others: () => [],
      revocationOf: () => undefined,
    });
    const isAsked = typeof responder !== 'string' && responder !== issuer && !responder.ocspNoCheck;
    const urls = new Set(isAsked ? responder.crlUrls.slice(0, MAX_URLS) : []);
    return {
      certificates: [],
      crls: await Promise.all([...urls].map((url) => this.#crlAt(url))),
      ocsps: [ocsp],
    };
  }

  async #askOcsp(url: string, certificate: Certificate, issuer: Certificate, at: number) {
    const key = `${url} ${issuer.fingerprint} ${certificate.fingerprint}`;
    const judged = async (ocsp: Buffer) =>
      answered(certificate, issuer, { evidence: await this.#evidenceWith(ocsp, issuer), at, url });
    const ocsp = await this.#ocsps.get(key, this.settings.now(), async () => {
      const answer = await this.#exchange({
        url,
        method: 'POST',
        headers: { 'content-type': 'application/ocsp-request', accept: 'application/ocsp-response' },
        body: encodeOcspRequest(certificate, issuer),
        maxBytes: MAX_OCSP,
      });
      const basic = understood(url, () => readOcsp(basicOcspIn(firstElement(answer)))).der;
      // Unusable responses are not cached.
      const { status } = await judged(basic);
      return this.#dated(basic, status.source.nextUpdate);
    });
    return judged(ocsp);
  }

  /** Fetches delta CRLs; those that cannot be had are left out, since the complete CRL is valid by itself (§5.2.6). */
  async #deltasAt(urls: readonly string[]): Promise<readonly Buffer[]> {
    const found = await Promise.all(
      urls.slice(0, MAX_URLS).map((url) => this.#crlAt(url).catch(noneIfRefused)),
    );
    return found.filter((one): one is Buffer => Buffer.isBuffer(one));
  }

  /** A CRL names delta CRLs too; its addresses are contacted once it has proved authentic. */
  async #askCrl(url: string, certificate: Certificate, issuer: Certificate, at: number) {
    const named = new Set(certificate.freshestCrlUrls);
    const [crl, deltas] = await Promise.all([this.#crlAt(url), this.#deltasAt([...named])]);
    const answeredBy = (crls: readonly Buffer[]) =>
      answered(certificate, issuer, { evidence: { certificates: [], crls, ocsps: [] }, at, url });
    try {
      const answer = answeredBy([crl, ...deltas]);
      const more = readCrl(crl).freshestUrls.filter((one) => !named.has(one));
      if (answer.status.status === 'revoked' || more.length === 0) return answer;
      return answeredBy([crl, ...deltas, ...(await this.#deltasAt(more))]);
    } catch (error) {
      for (const one of [url, ...named]) this.#crls.delete(one);
      throw error;
    }
  }
}

/** Builds the result. @throws {CryptoError} `revocation.missing` when the responses give no status */
function answered(
  certificate: Certificate,
  issuer: Certificate,
  { evidence, at, url }: { readonly evidence: Evidence; readonly at: number; readonly url: string },
): Answered {
  const status = revocationStatus(certificate, issuer, { evidence, at });
  if (status.status === 'unknown') {
    throw new CryptoError('revocation.missing', `${publicName(url)}: ${status.reason}`);
  }
  const weak = status.source.algorithms.find(({ name }) => name === 'sha1');
  if (weak !== undefined) {
    throw new CryptoError('revocation.missing', `${publicName(url)}: the answer is signed with SHA-1`);
  }
  const { signer } = status.source;
  return { status, evidence: { ...evidence, certificates: signer === issuer ? [] : [signer.der] } };
}

/** Parses a response. @throws {CryptoError} `authority.refused` naming the URL, when the bytes are invalid */
function understood<T>(url: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Asn1Error)) throw error;
    throw new CryptoError(
      'authority.refused',
      `${publicName(url)} answers with something else: ${error.message}.`,
    );
  }
}

function noAnswer(certificate: Certificate, failures: readonly CryptoError[]): CryptoError {
  const has = (wanted: CryptoErrorCode) => failures.some(({ code }) => code === wanted);
  const code = (['authority.unreachable', 'authority.refused'] as const).find(has) ?? 'revocation.missing';
  const reasons = failures.map(({ message }) => message.replace(/\.$/, '')).join('; ');
  const name = holderText(certificate);
  return new CryptoError(code, `Whether the certificate of ${name} is revoked is not known: ${reasons}.`);
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : '';
}

function noneIfRefused(error: unknown): readonly Certificate[] {
  if (error instanceof CryptoError) return [];
  throw error;
}

const CRL_BLOCK = /-----BEGIN X509 CRL-----([A-Za-z0-9+/=\s]+)-----END X509 CRL-----/;

/** Decodes a CRL; some servers send PEM, against RFC 5280 §4.2.1.13. */
function crlIn(answer: Buffer): Buffer {
  if (answer[0] === 0x30) return firstElement(answer);
  const [, base64] = CRL_BLOCK.exec(answer.toString('latin1')) ?? [];
  return base64 === undefined ? answer : Buffer.from(base64, 'base64');
}

/** Reads one DER certificate, PEM, or a certs-only CMS message (RFC 5280 §4.2.2.1). */
function certificatesFrom(answer: Buffer): Certificate[] {
  const single = certificatesIn(answer).flatMap(readableCertificates);
  if (single.length > 0) return single;
  try {
    return parseSignedData(encoded(readElement(answer))).certificates.flatMap(readableCertificates);
  } catch {
    return [];
  }
}

/**
 * SHA-1 as an identifier for certificates without security relevance; every responder supports it (RFC 5019 §2.1.1).
 */
const SHA1 = sequence(oid('1.3.14.3.2.26'), NULL);

/**
 * Encodes CertID ::= SEQUENCE { hashAlgorithm, issuerNameHash, issuerKeyHash OCTET STRING, serialNumber } (RFC 6960
 * §4.1.1).
 */
export function encodeCertId(certificate: Certificate, issuer: Certificate): Buffer {
  const hash = (bytes: Buffer) => octetString(createHash('sha1').update(bytes).digest());
  return sequence(SHA1, hash(issuer.subject), hash(issuer.publicKeyBits), certificate.serial);
}

/**
 * Encodes an OCSPRequest about one certificate, without a nonce, so that responders can send prepared responses (RFC
 * 5019 §2.1.1); their times show old ones.
 *
 * OCSPRequest ::= SEQUENCE { tbsRequest SEQUENCE { requestList SEQUENCE OF SEQUENCE { reqCert CertID } } }
 */
export function encodeOcspRequest(certificate: Certificate, issuer: Certificate): Buffer {
  return sequence(sequence(sequence(sequence(encodeCertId(certificate, issuer)))));
}
