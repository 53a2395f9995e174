/**
 * Check of a certificate before signing, so that no signature is made that verifiers would reject.
 *
 * Source: docs/batch-values.md §6.5: path, validity, key usage, basic constraints, revocation.
 */

import type { SignerIdentity } from '../core/types.ts';
import type { SubIndication, ValidationItem } from '../core/validation-report.ts';
import { type Evidence, type EvidenceSource, NO_EVIDENCE } from '../evidence/authorities.ts';
import { type Certificate, readableCertificates, readCertificate } from '../x509/certificate.ts';
import { findPaths } from '../x509/path-search.ts';
import { type ChainVerdict, listedIn, trustedCertificates, validateChain } from './chain.ts';
import type { TrustSettings } from './trust.ts';

type SigningCertificateCode =
  | 'certificate.expired'
  | 'certificate.not-yet-valid'
  | 'certificate.revoked'
  /** The settings require a revocation status, and no source responds. */
  | 'certificate.unchecked'
  | 'certificate.untrusted'
  /** Key usage, basic constraints, weak algorithms. */
  | 'certificate.unsuitable';

export type SigningCertificateVerdict =
  | {
      readonly ok: true;
      /** Failed requests, one sentence each; for `soft` revocation only. */
      readonly warnings: readonly string[];
      /** Says that the trust anchor has expired, which still counts (docs/decisions/0334). */
      readonly anchor?: string;
    }
  | { readonly ok: false; readonly code: SigningCertificateCode; readonly message: string };

/**
 * Requests evidence from `trust.online` when it is configured and revocation is checked; judges for the time of the
 * call.
 * Source: EN 319 102-1 §5.2.6.
 * @param clock milliseconds since the epoch; read again after the requests, since responses are issued meanwhile
 * @throws {CryptoError} `certificate.malformed` for a trust anchor that can't be read
 */
export async function checkSigningCertificate(
  { certificate, chain }: Pick<SignerIdentity, 'certificate' | 'chain'>,
  trust: TrustSettings,
  clock: () => number,
): Promise<SigningCertificateVerdict> {
  const at = clock();
  const signer = readCertificate(certificate);
  const fault = validityFault(signer, at);
  if (fault !== undefined) return { ok: false, ...fault };
  const { evidence, problems } = await gathered(certificate, chain, trust, at);
  const verdict = validateChain({
    certificate: signer,
    others: [...chain, ...evidence.certificates].flatMap(readableCertificates),
    evidence,
    trust,
    purpose: 'signature',
    time: at,
    evidenceTime: () => at,
    now: clock(),
  });
  if (verdict.subIndication === undefined) {
    const anchor = verdict.results.warnings.find(({ type }) => type === 'chain.anchor')?.message;
    return { ok: true, warnings: problems, ...(anchor !== undefined && { anchor }) };
  }
  return refusal(verdict, verdict.subIndication, problems);
}

/** Returns why the period of validity does not include `at`; undefined when it does. Source: RFC 5280 §4.1.2.5. */
export function validityFault(
  { notBefore, notAfter }: Pick<Certificate, 'notBefore' | 'notAfter'>,
  at: number,
):
  | { readonly code: 'certificate.expired' | 'certificate.not-yet-valid'; readonly message: string }
  | undefined {
  const text = (time: number) => new Date(time).toISOString();
  if (at > notAfter)
    return { code: 'certificate.expired', message: `The certificate expired at ${text(notAfter)}.` };
  if (at < notBefore)
    return {
      code: 'certificate.not-yet-valid',
      message: `The certificate is valid from ${text(notBefore)}.`,
    };
  return undefined;
}

async function gathered(
  certificate: Buffer,
  chain: readonly Buffer[],
  trust: TrustSettings,
  at: number,
): Promise<{ readonly evidence: Evidence; readonly problems: readonly string[] }> {
  const { online, revocation, evidence = NO_EVIDENCE } = trust;
  if (online?.gather === undefined || revocation === 'none') return { evidence, problems: [] };
  const known = { certificate: readCertificate(certificate), others: chain.flatMap(readableCertificates) };
  const listed = listedIn({ ...known, trust, purpose: 'signature', time: at });
  return online.gather(
    [certificate],
    chain,
    at,
    listed.map(({ der }) => der),
  );
}

function refusal(
  { results }: ChainVerdict,
  subIndication: SubIndication,
  problems: readonly string[],
): SigningCertificateVerdict {
  const types = results.errors.map(({ type }) => type);
  const message = [...results.errors.map(messageFor), ...(unanswered(types) ? problems : [])].join(' ');
  return { ok: false, code: codeOf(types, subIndication), message };
}

function unanswered(types: readonly string[]): boolean {
  return types.includes('revocation.unknown');
}

function codeOf(types: readonly string[], subIndication: SubIndication): SigningCertificateCode {
  if (types.includes('revocation.revoked')) return 'certificate.revoked';
  if (subIndication === 'NO_CERTIFICATE_CHAIN_FOUND') return 'certificate.untrusted';
  if (types.includes('chain.expired') || types.includes('chain.not-yet-valid'))
    return 'certificate.untrusted';
  return unanswered(types) ? 'certificate.unchecked' : 'certificate.unsuitable';
}

function messageFor({ message, detail }: ValidationItem): string {
  return detail === undefined || detail === '' ? message : `${message} (${detail})`;
}

/**
 * Returns the certificates to embed: those between a signer and an anchor, as `buildCertificationPaths` does. When the
 * signer lacks some, they are fetched if the source may.
 * Source: RFC 4158.
 * @throws {CryptoError} as `EvidenceSource.chain`, when they can't be fetched
 */
export async function completeChain(
  { certificate, chain }: Pick<SignerIdentity, 'certificate' | 'chain'>,
  trust: Pick<TrustSettings, 'anchors' | 'intermediates'>,
  source: Pick<EvidenceSource, 'chain'> | undefined,
  at: number,
): Promise<readonly Buffer[]> {
  const known = buildCertificationPaths({ certificate, chain }, trust);
  if (known.anchors.length > 0 || source?.chain === undefined) return known.chain;
  const found = await source.chain(certificate, chain, at);
  return buildCertificationPaths({ certificate, chain: [...chain, ...found] }, trust).chain;
}

/** Certification paths of a signer. */
interface CertificationPaths {
  /** DER of the given anchors that its paths lead to; empty when there is none. */
  readonly anchors: readonly Buffer[];
  /** DER of the certificates between it and the most likely anchor, nearest first; self-signed ones are left out. */
  readonly chain: readonly Buffer[];
}

/**
 * Builds the paths. Source: RFC 5280 §6.1, RFC 4158.
 * @throws {CryptoError} `certificate.malformed` for a trust anchor that can't be read
 */
export function buildCertificationPaths(
  { certificate, chain }: Pick<SignerIdentity, 'certificate' | 'chain'>,
  trust: Pick<TrustSettings, 'anchors' | 'intermediates'>,
): CertificationPaths {
  const { anchors, intermediates } = trustedCertificates({ ...trust, revocation: 'none' });
  const others = [...chain.flatMap(readableCertificates), ...intermediates];
  const { paths } = findPaths({ certificate: readCertificate(certificate), others, anchors });
  const tops = paths.flatMap((path) => path.slice(-1).map(({ der }) => der));
  const between = (paths[0] ?? []).slice(1).filter(({ subjectKey, issuerKey }) => subjectKey !== issuerKey);
  return { anchors: [...new Set(tops)], chain: between.map(({ der }) => der) };
}
