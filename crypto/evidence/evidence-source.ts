/** Collects validation material over the network for later offline validation. */

import { CryptoError } from '../core/types.ts';
import { type Certificate, readableCertificates, readCertificate } from '../x509/certificate.ts';
import { holderText } from '../x509/holder.ts';
import { findPath } from '../x509/path-search.ts';
import { type Evidence, type EvidenceSource, isUnreachableAddress } from './authorities.ts';
import { ASKING, createHttpTransport } from './http-transport.ts';
import {
  type Answered,
  createInquiry,
  type InquirySettings,
  type RevocationInquiry,
} from './revocation-inquiry.ts';

/** @default of what is left out: HTTP, the time of the machine, one retry, 10 seconds, 60 minutes, no hosts */
export interface EvidenceSourceOptions extends Partial<InquirySettings> {
  /** DER of trust anchors. */
  readonly anchors: readonly Buffer[];
  /** DER of candidates for intermediate certificates. @default none */
  readonly intermediates?: readonly Buffer[];
  /** DER of anchors for a certificate that leads to none of `anchors`; `at`: milliseconds since the epoch. @default none */
  readonly listed?:
    | ((certificate: Buffer, others: readonly Buffer[], at: number) => readonly Buffer[])
    | undefined;
}

/** Limit of issuers fetched for one chain. */
const MAX_FETCHED = 4;

/**
 * Creates a source that requests OCSP first, and CRLs where OCSP gives no result. Responses are cached for
 * `cacheMinutes` at most; concurrent callers share one request.
 * Source: RFC 6960 §4, RFC 5280 §6.3.
 * @throws {CryptoError} `certificate.malformed` for an anchor that can't be read
 */
export function createEvidenceSource(options: EvidenceSourceOptions): EvidenceSource {
  const anchors = options.anchors.map(readCertificate);
  const intermediates = (options.intermediates ?? []).flatMap(readableCertificates);
  const { transport = createHttpTransport() } = options;
  const inquiry = createInquiry({ ...ASKING, cacheMinutes: 60, issuerHosts: [], ...options, transport });
  const chainRequest = (
    others: readonly Buffer[],
    at: number,
    listed: readonly Buffer[] = [],
  ): ChainRequest => {
    const pool = [...intermediates, ...others.flatMap(readableCertificates)];
    return { anchors, listed: listed.flatMap(readableCertificates), pool, at, inquiry };
  };
  return {
    async collect(ends, others, at) {
      const listed = ends.flatMap((end) => options.listed?.(end, others, at) ?? []);
      const request = chainRequest(others, at, listed);
      const chains = await Promise.all(ends.map((end) => chainOf(readCertificate(end), request)));
      const pairs = pairsOf(chains);
      for (const pair of pairs) assertAskable(pair);
      const answers = await Promise.all(
        pairs.filter(isAskable).map((pair) => requestStatus(pair, inquiry, at)),
      );
      return gather(
        chains.flat().map(({ der }) => der),
        answers.map(({ evidence }) => evidence),
      );
    },
    async gather(ends, others, at, listed) {
      const request = chainRequest(others, at, listed);
      const problems = new Set<string>();
      const attempt = async <T>(work: Promise<T>): Promise<T[]> => {
        try {
          return [await work];
        } catch (error) {
          if (!(error instanceof CryptoError)) throw error;
          problems.add(error.message);
          return [];
        }
      };
      const certificates = ends.flatMap(readableCertificates);
      const found = await Promise.all(certificates.map((end) => attempt(chainOf(end, request))));
      const chains = found.flat();
      const answers = await Promise.all(
        pairsOf(chains)
          .filter(isAskable)
          .map(({ certificate, issuer }) => attempt(inquiry.about(certificate, issuer, at))),
      );
      const evidence = gather(
        chains.flat().map(({ der }) => der),
        answers.flat().map((answer) => answer.evidence),
      );
      return { evidence, problems: [...problems] };
    },
    async chain(end, others, at) {
      const chain = await chainOf(readCertificate(end), chainRequest(others, at));
      return chain.map(({ der }) => der);
    },
  };
}

interface ChainRequest {
  readonly anchors: readonly Certificate[];
  /** Anchors of last resort: those of the source lead further, so that more is asked. */
  readonly listed: readonly Certificate[];
  readonly pool: readonly Certificate[];
  readonly at: number;
  readonly inquiry: RevocationInquiry;
}

/** Finds the path to an anchor. @throws {CryptoError} `revocation.missing` */
async function chainOf(certificate: Certificate, request: ChainRequest): Promise<readonly Certificate[]> {
  const { anchors, listed, at } = request;
  const pool = [...request.pool];
  for (let fetched = 0; ; fetched++) {
    const result = findPath({ certificate, others: pool, anchors, at });
    if (result.ok) return result.path;
    const last = findPath({ certificate, others: pool, anchors: listed, at });
    if (last.ok) return withIssuer(last.path, [...anchors, ...pool]);
    const more = fetched < MAX_FETCHED ? await request.inquiry.issuersOf(topOf(certificate, pool)) : [];
    const unknown = more.filter((one) => !pool.some(({ fingerprint }) => fingerprint === one.fingerprint));
    if (unknown.length === 0) {
      const name = holderText(certificate);
      throw new CryptoError(
        'revocation.missing',
        `The certificate of ${name} has no chain to a trust anchor: ${result.reason}.`,
      );
    }
    pool.push(...unknown);
  }
}

/** Adds the issuer of a listed anchor where it is at hand: the anchor may be revoked. */
function withIssuer(path: readonly Certificate[], pool: readonly Certificate[]): readonly Certificate[] {
  const top = path.at(-1);
  const issuer =
    top && pool.find((one) => one.subjectKey === top.issuerKey && !path.includes(one) && top.signedBy(one));
  return issuer === undefined ? path : [...path, issuer];
}

/** Follows the issuers in the pool; returns the last certificate found. */
function topOf(certificate: Certificate, pool: readonly Certificate[]): Certificate {
  const seen = [certificate];
  for (let top = certificate; ; ) {
    const issuer = pool.find(
      (one) => one.subjectKey === top.issuerKey && !seen.includes(one) && top.signedBy(one),
    );
    if (issuer === undefined) return top;
    seen.push(issuer);
    top = issuer;
  }
}

interface Pair {
  readonly certificate: Certificate;
  readonly issuer: Certificate;
}

/** Lists each certificate below an anchor once, with its issuer. */
function pairsOf(chains: readonly (readonly Certificate[])[]): Pair[] {
  const pairs = new Map<string, Pair>();
  for (const chain of chains) {
    for (const [index, certificate] of chain.entries()) {
      const issuer = chain[index + 1];
      if (issuer === undefined) continue;
      pairs.set(`${certificate.fingerprint} ${issuer.fingerprint}`, { certificate, issuer });
    }
  }
  return [...pairs.values()];
}

function isAskable({ certificate: { ocspUrls, crlUrls } }: Pair): boolean {
  return [...ocspUrls, ...crlUrls].some((url) => !isUnreachableAddress(url));
}

/**
 * Checks that the status can be requested: without a source the certificate can never be proven, unless its issuer
 * exempts it from checking (RFC 6960 §4.2.2.2.1).
 * @throws {CryptoError} `revocation.missing`
 */
function assertAskable(pair: Pair): void {
  const { ocspNoCheck, ocspUrls, crlUrls } = pair.certificate;
  if (ocspNoCheck || isAskable(pair)) return;
  const which = ocspUrls.length + crlUrls.length === 0 ? '' : ' that leads anywhere';
  throw new CryptoError(
    'revocation.missing',
    `The certificate of ${holderText(pair.certificate)} names no address${which} at which its revocation could be asked for, which levels LT and LTA need.`,
  );
}

/** Requests the status of one certificate. @throws {CryptoError} `certificate.revoked`, and as `Inquiry.about` */
async function requestStatus(
  { certificate, issuer }: Pair,
  inquiry: RevocationInquiry,
  at: number,
): Promise<Answered> {
  const answer = await inquiry.about(certificate, issuer, at);
  if (answer.status.status === 'good') return answer;
  const { revocation } = answer.status;
  const since = new Date(revocation.at).toISOString();
  throw new CryptoError(
    'certificate.revoked',
    `The certificate of ${holderText(certificate)} is revoked since ${since} (${revocation.reason}).`,
  );
}

/** Joins everything without duplicates. */
function gather(chain: readonly Buffer[], parts: readonly Evidence[]): Evidence {
  return {
    certificates: distinct([...chain, ...parts.flatMap(({ certificates }) => certificates)]),
    crls: distinct(parts.flatMap(({ crls }) => crls)),
    ocsps: distinct(parts.flatMap(({ ocsps }) => ocsps)),
  };
}

function distinct(all: readonly Buffer[]): Buffer[] {
  const found: Buffer[] = [];
  for (const one of all) if (!found.some((known) => known === one || known.equals(one))) found.push(one);
  return found;
}
