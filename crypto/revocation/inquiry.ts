/** Asks OCSP responders and CRL servers; what they say is checked before it is kept or anybody sees it. */
import { Asn1Error } from '../asn1/error.ts';
import { encoded, readElement } from '../asn1/read.ts';
import type { AuthorityRequest, AuthorityTransport, Evidence } from '../authorities.ts';
import { type Certificate, readableCertificates } from '../certificates/certificate.ts';
import { nameFields } from '../certificates/names.ts';
import { parseSignedData } from '../cms/parse.ts';
import { certificatesIn } from '../keys/pem.ts';
import { CryptoError, type CryptoErrorCode } from '../types.ts';
import { publicName } from './address.ts';
import { createAnswerCache } from './answer-cache.ts';
import { readCrl } from './crl.ts';
import { basicOcspIn, readOcsp } from './ocsp.ts';
import { encodeOcspRequest } from './ocsp-request.ts';
import { responderOf } from './responder.ts';
import { type RetrySettings, withRetries } from './retry.ts';
import { type RevocationStatus, revocationStatus } from './status.ts';

export interface InquirySettings extends RetrySettings {
  readonly transport: AuthorityTransport;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Answers are asked for again when they are due, and at the latest after this long. */
  readonly cacheMinutes: number;
  /** For one exchange, milliseconds. */
  readonly timeoutMs: number;
}

export interface Inquiry {
  /**
   * The first answer that tells the status of one certificate at `at`: OCSP, then CRL.
   * @throws {CryptoError} `authority.unreachable`, `authority.refused`, `revocation.missing`; the message names the
   *   certificate and every address that was tried
   */
  about(certificate: Certificate, issuer: Certificate, at: number): Promise<Answered>;
  /** Certificates at the addresses that a certificate names for its issuer's; none when there is no answer. */
  issuersOf(certificate: Certificate): Promise<readonly Certificate[]>;
}

export type KnownStatus = Exclude<RevocationStatus, { status: 'unknown' }>;

export interface Answered {
  readonly status: KnownStatus;
  /** What the status rests on: the answer, its responder, and the answer about that one. */
  readonly evidence: Evidence;
}

const MAX_OCSP = 64 * 1024;
const MAX_CRL = 32 << 20;
const MAX_CERTIFICATES = 256 * 1024;

const MOST_OCSPS = 2_000;
/** Lists can be large, and a signer's chain needs few. */
const MOST_CRLS = 32;
const MOST_ISSUERS = 200;

/** Addresses of one kind that are tried for one certificate. */
const MAX_URLS = 4;

export function createInquiry(settings: InquirySettings): Inquiry {
  const ocsps = createAnswerCache<Buffer>(MOST_OCSPS, ({ length }) => length);
  const crls = createAnswerCache<Buffer>(MOST_CRLS, ({ length }) => length);
  const issuers = createAnswerCache<readonly Certificate[]>(MOST_ISSUERS, (certificates) =>
    certificates.reduce((bytes, { der }) => bytes + der.length, 0),
  );

  const exchange = (request: Omit<AuthorityRequest, 'timeout'>): Promise<Buffer> =>
    withRetries(settings, () => settings.transport.exchange({ ...request, timeout: settings.timeoutMs }));

  const dated = <T>(value: T, nextUpdate: number | undefined) => {
    const latest = settings.now() + settings.cacheMinutes * 60_000;
    return { value, until: Math.min(latest, nextUpdate ?? latest) };
  };

  const crlAt = (url: string): Promise<Buffer> =>
    crls.get(url, settings.now(), async () => {
      const answer = await exchange({ url, method: 'GET', headers: {}, maxBytes: MAX_CRL });
      const der = crlIn(answer);
      return dated(der, understood(url, () => readCrl(der)).nextUpdate);
    });

  /**
   * With the CRLs that name their responder, unless nobody need look at it (RFC 6960 §4.2.2.2.1). Whoever answers could
   * put certificates of his own into the answer, so only addresses in the certificate of a responder that the issuer
   * authorized, and that signed the answer, are asked.
   */
  const evidenceWith = async (ocsp: Buffer, issuer: Certificate): Promise<Evidence> => {
    const responder = responderOf(
      readOcsp(ocsp),
      issuer,
      () => [],
      () => undefined,
    );
    const isAsked = typeof responder !== 'string' && responder !== issuer && !responder.ocspNoCheck;
    const urls = new Set(isAsked ? responder.crlUrls.slice(0, MAX_URLS) : []);
    return { certificates: [], crls: await Promise.all([...urls].map(crlAt)), ocsps: [ocsp] };
  };

  const askOcsp = async (url: string, certificate: Certificate, issuer: Certificate, at: number) => {
    const key = `${url} ${issuer.fingerprint} ${certificate.fingerprint}`;
    const judged = async (ocsp: Buffer) =>
      answered(certificate, issuer, await evidenceWith(ocsp, issuer), at, url);
    const ocsp = await ocsps.get(key, settings.now(), async () => {
      const answer = await exchange({
        url,
        method: 'POST',
        headers: { 'content-type': 'application/ocsp-request', accept: 'application/ocsp-response' },
        body: encodeOcspRequest(certificate, issuer),
        maxBytes: MAX_OCSP,
      });
      const basic = understood(url, () => readOcsp(basicOcspIn(answer))).der;
      // An answer that is no use is not kept.
      const { status } = await judged(basic);
      return dated(basic, status.source.nextUpdate);
    });
    return judged(ocsp);
  };

  const askCrl = async (url: string, certificate: Certificate, issuer: Certificate, at: number) => {
    const crl = await crlAt(url);
    try {
      return answered(certificate, issuer, { certificates: [], crls: [crl], ocsps: [] }, at, url);
    } catch (error) {
      crls.forget(url);
      throw error;
    }
  };

  return {
    async about(certificate, issuer, at) {
      const tries = [
        ...certificate.ocspUrls.slice(0, MAX_URLS).map((url) => ({ url, ask: askOcsp })),
        ...certificate.crlUrls.slice(0, MAX_URLS).map((url) => ({ url, ask: askCrl })),
      ];
      const failures: CryptoError[] = [];
      for (const { url, ask } of tries) {
        try {
          return await ask(url, certificate, issuer, at);
        } catch (error) {
          if (!(error instanceof CryptoError)) throw error;
          failures.push(error);
        }
      }
      throw noAnswer(certificate, failures);
    },
    async issuersOf(certificate) {
      const found = await Promise.all(
        certificate.issuerUrls.slice(0, MAX_URLS).map((url) =>
          issuers
            .get(url, settings.now(), async () => {
              const answer = await exchange({ url, method: 'GET', headers: {}, maxBytes: MAX_CERTIFICATES });
              return dated(certificatesFrom(answer), undefined);
            })
            .catch(noneIfRefused),
        ),
      );
      return found.flat();
    },
  };
}

/** @throws {CryptoError} `revocation.missing` when the answers don't tell */
function answered(
  certificate: Certificate,
  issuer: Certificate,
  evidence: Evidence,
  at: number,
  url: string,
): Answered {
  const status = revocationStatus(certificate, issuer, evidence, at);
  if (status.status === 'unknown') {
    throw new CryptoError('revocation.missing', `${publicName(url)}: ${status.because}`);
  }
  const weak = status.source.algorithms.find(({ name }) => name === 'sha1');
  if (weak !== undefined) {
    throw new CryptoError('revocation.missing', `${publicName(url)}: the answer is signed with SHA-1`);
  }
  const { signer } = status.source;
  return { status, evidence: { ...evidence, certificates: signer === issuer ? [] : [signer.der] } };
}

/** @throws {CryptoError} `authority.refused` naming the URL, for bytes that are something else */
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
  const name = nameFields(certificate.subject).text;
  return new CryptoError(code, `Whether the certificate of ${name} is revoked is not known: ${reasons}.`);
}

function noneIfRefused(error: unknown): readonly Certificate[] {
  if (error instanceof CryptoError) return [];
  throw error;
}

const CRL_BLOCK = /-----BEGIN X509 CRL-----([A-Za-z0-9+/=\s]+)-----END X509 CRL-----/;

/** Some servers send PEM, against RFC 5280 §4.2.1.13. */
function crlIn(answer: Buffer): Buffer {
  if (answer[0] === 0x30) return answer;
  const [, base64] = CRL_BLOCK.exec(answer.toString('latin1')) ?? [];
  return base64 === undefined ? answer : Buffer.from(base64, 'base64');
}

/** One DER certificate, PEM, or a certs-only CMS message (RFC 5280 §4.2.2.1). */
function certificatesFrom(answer: Buffer): Certificate[] {
  const single = certificatesIn(answer).flatMap(readableCertificates);
  if (single.length > 0) return single;
  try {
    return parseSignedData(encoded(readElement(answer))).certificates.flatMap(readableCertificates);
  } catch {
    return [];
  }
}
