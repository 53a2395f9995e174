/**
 * Whether a certificate may sign now: asked before a signature is made, so that none is made that nobody would accept.
 *
 * Source: batch-gaps §6.5: path, validity, key usage, basic constraints, revocation.
 */
import type { Evidence } from '../authorities.ts';
import { NO_EVIDENCE } from '../authorities.ts';
import { type Certificate, readableCertificates, readCertificate } from '../certificates/certificate.ts';
import { findPaths } from '../certificates/path-search.ts';
import type { SignerIdentity } from '../types.ts';
import { type ChainVerdict, judgeChain } from './chain.ts';
import type { SubIndication, ValidationItem } from './report.ts';
import type { TrustSettings } from './trust.ts';
import { trustedCertificates } from './trusted.ts';

export type SigningCertificateCode =
  | 'certificate.expired'
  | 'certificate.not-yet-valid'
  | 'certificate.revoked'
  /** Revocation has to be known, and nobody answers. */
  | 'certificate.unchecked'
  | 'certificate.untrusted'
  /** Key usage, basic constraints, weak algorithms. */
  | 'certificate.unsuitable';

export type SigningCertificateVerdict =
  | {
      readonly ok: true;
      /** What could not be asked, one sentence each; `soft` revocation only. */
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly code: SigningCertificateCode; readonly message: string };

/**
 * Asks `trust.online`, when there is one and revocation counts, and judges for the time at which it was called.
 * @param clock milliseconds since the epoch; read again after the asking, since answers are made meanwhile
 * @throws {CryptoError} `certificate.malformed` for a trust anchor that can't be read
 */
export async function checkSigningCertificate(
  { certificate, chain }: Pick<SignerIdentity, 'certificate' | 'chain'>,
  trust: TrustSettings,
  clock: () => number,
): Promise<SigningCertificateVerdict> {
  const at = clock();
  const signer = readCertificate(certificate);
  const period = periodFault(signer, at);
  if (period !== undefined) return period;
  const { evidence, problems } = await gathered(certificate, chain, trust, at);
  const verdict = judgeChain({
    certificate: signer,
    others: [...chain, ...evidence.certificates].flatMap(readableCertificates),
    evidence,
    trust,
    purpose: 'signature',
    time: at,
    evidenceTime: () => at,
    now: clock(),
  });
  if (verdict.subIndication === undefined) return { ok: true, warnings: problems };
  return refusal(verdict, verdict.subIndication, problems);
}

/** Why the certificate can't be used at that time, without asking anybody. */
function periodFault(
  { notBefore, notAfter }: Certificate,
  at: number,
): SigningCertificateVerdict | undefined {
  const text = (time: number) => new Date(time).toISOString();
  if (at > notAfter) {
    const message = `The certificate expired at ${text(notAfter)}.`;
    return { ok: false, code: 'certificate.expired', message };
  }
  if (at >= notBefore) return undefined;
  const message = `The certificate is valid from ${text(notBefore)}.`;
  return { ok: false, code: 'certificate.not-yet-valid', message };
}

async function gathered(
  certificate: Buffer,
  chain: readonly Buffer[],
  { online, revocation, evidence = NO_EVIDENCE }: TrustSettings,
  at: number,
): Promise<{ readonly evidence: Evidence; readonly problems: readonly string[] }> {
  if (online?.gather === undefined || revocation === 'none') return { evidence, problems: [] };
  return online.gather([certificate], chain, at);
}

function refusal(
  { results }: ChainVerdict,
  subIndication: SubIndication,
  problems: readonly string[],
): SigningCertificateVerdict {
  const types = results.errors.map(({ type }) => type);
  const message = [...results.errors.map(sentence), ...(unanswered(types) ? problems : [])].join(' ');
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

function sentence({ message, detail }: ValidationItem): string {
  return detail === undefined || detail === '' ? message : `${message} (${detail})`;
}

/** What stands above a signer. */
export interface WaysUp {
  /** DER of the given anchors its certificate leads to; empty when it leads to none. */
  readonly anchors: readonly Buffer[];
  /** DER of the certificates between it and the likeliest anchor, nearest first; what signed itself is left out. */
  readonly chain: readonly Buffer[];
}

/** @throws {CryptoError} `certificate.malformed` for a trust anchor that can't be read */
export function waysUp(
  { certificate, chain }: Pick<SignerIdentity, 'certificate' | 'chain'>,
  trust: Pick<TrustSettings, 'anchors' | 'intermediates'>,
): WaysUp {
  const { anchors, intermediates } = trustedCertificates({ ...trust, revocation: 'none' });
  const others = [...chain.flatMap(readableCertificates), ...intermediates];
  const { paths } = findPaths({ certificate: readCertificate(certificate), others, anchors });
  const tops = paths.flatMap((path) => path.slice(-1).map(({ der }) => der));
  const between = (paths[0] ?? []).slice(1).filter(({ subjectKey, issuerKey }) => subjectKey !== issuerKey);
  return { anchors: [...new Set(tops)], chain: between.map(({ der }) => der) };
}
