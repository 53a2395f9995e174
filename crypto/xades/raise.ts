/** Raises a signature from one baseline level to the next, whether it was made just now or long ago. */
import { createHash, type Hash } from 'node:crypto';
import type { Evidence, EvidenceSource, SigningServices, TimestampAuthority } from '../authorities.ts';
import { NO_EVIDENCE } from '../authorities.ts';
import { fingerprintOf } from '../certificates/certificate.ts';
import { readTimestampToken } from '../timestamps/read.ts';
import { CryptoError, type DigestName, type SignatureLevel } from '../types.ts';
import type { ByteSink } from '../xml/index.ts';
import { completeReferences } from './complete-references.ts';
import {
  archiveTimestampText,
  certificateValuesText,
  revocationValuesText,
  signatureTimestampText,
  timestampValidationText,
} from './unsigned-properties.ts';

/** A time-stamp that is in the signature. */
export interface PresentTimestamp {
  /** '' when it has none. */
  readonly id: string;
  /** DER. */
  readonly token: Buffer;
}

/** What raising has to know of a signature. */
export interface RaisableSignature {
  /** Begins the identifiers of what is added; no other identifier in the document begins so. */
  readonly id: string;
  /** Of the imprints. */
  readonly digest: DigestName;
  /** DER of the signer's certificate. */
  readonly certificate: Buffer;
  /** DER of the certificates in KeyInfo. */
  readonly certificates: readonly Buffer[];
  /** Canonical form of SignatureValue. */
  readonly signatureValue: Buffer | string;
  readonly signatureTimestamps: readonly PresentTimestamp[];
  readonly archiveTimestamps: readonly PresentTimestamp[];
  /** Values of the signer's chain are there already. */
  readonly hasCertificateValues: boolean;
  readonly hasRevocationValues: boolean;
  /** References to all that validates the signer go in with the values (`XadesForm.completeReferences`). */
  readonly wantsReferences: boolean;
  /** Something that validates the last archive time-stamp follows it. */
  readonly lastArchiveIsProven: boolean;
  /** Hash of `digest` that was told what an archive time-stamp covers now, up to the unsigned properties. */
  archived(): Hash;
  /** Writes what an archive time-stamp covers after them. */
  writeObjects(sink: ByteSink): void;
}

/**
 * Texts of the unsigned properties to append, in order. What is there already is not added again, but for `LTA`, which
 * always gets a further archive time-stamp.
 * @param at milliseconds since the epoch
 * @throws {CryptoError} `request.invalid` when a service that the level needs is not there; those of the services
 */
export async function raise(
  signature: RaisableSignature,
  to: Exclude<SignatureLevel, 'B'>,
  at: number,
  services: SigningServices,
): Promise<readonly string[]> {
  const authority = neededAuthority(services);
  const evidence = to === 'T' ? undefined : neededEvidence(services);
  const added: string[] = [];
  const timestamps = [...signature.signatureTimestamps];
  if (timestamps.length === 0) {
    const imprint = createHash(signature.digest).update(signature.signatureValue).digest();
    const made = { id: `${signature.id}-timestamp`, token: await authority.stamp(imprint, signature.digest) };
    timestamps.push(made);
    added.push(signatureTimestampText(made.id, made.token));
  }
  if (evidence === undefined) return added;
  added.push(...(await longTerm(signature, timestamps, at, evidence)));
  if (to === 'LT') return added;
  const last = signature.archiveTimestamps.at(-1);
  if (last !== undefined && !signature.lastArchiveIsProven) {
    added.push(timestampValidationText(last.id, await evidenceFor(last.token, at, evidence)));
  }
  const hash = signature.archived();
  for (const text of added) hash.update(text);
  signature.writeObjects(hash);
  const token = await authority.stamp(hash.digest(), signature.digest);
  added.push(archiveTimestampText(`${signature.id}-archive-timestamp`, token));
  return added.filter((text) => text !== '');
}

/** What makes signer and time-stamps checkable for good (EN 319 132-1 §6.3, level LT). */
async function longTerm(
  signature: RaisableSignature,
  timestamps: readonly PresentTimestamp[],
  at: number,
  source: EvidenceSource,
): Promise<string[]> {
  const isComplete = signature.hasCertificateValues && signature.hasRevocationValues;
  // Values that are there already know nothing of a time-stamp that was made just now.
  const unproven = isComplete ? timestamps.slice(signature.signatureTimestamps.length) : timestamps;
  if (isComplete && unproven.length === 0) return [];
  const seen = new Set(signature.certificates.map(fingerprintOf));
  const fresh = (evidence: Evidence): Evidence => {
    const unseen = (der: Buffer): boolean => {
      const print = fingerprintOf(der);
      if (seen.has(print)) return false;
      seen.add(print);
      return true;
    };
    return {
      certificates: evidence.certificates.filter(unseen),
      crls: evidence.crls.filter(unseen),
      ocsps: evidence.ocsps.filter(unseen),
    };
  };
  const collected = isComplete
    ? NO_EVIDENCE
    : await source.collect([signature.certificate], signature.certificates, at);
  const ofSigner = fresh(collected);
  const ofTimestamps: string[] = [];
  for (const { id, token } of unproven) {
    ofTimestamps.push(timestampValidationText(id, fresh(await evidenceFor(token, at, source))));
  }
  // Each list may be there once; what is missing in one that others made stands beside it.
  const incomplete = signature.hasCertificateValues || signature.hasRevocationValues;
  const values = isComplete
    ? []
    : incomplete
      ? [timestampValidationText('', ofSigner)]
      : [certificateValuesText(ofSigner), revocationValuesText(ofSigner)];
  const references = signature.wantsReferences
    ? completeReferences(collected, signature.certificate, signature.digest)
    : [];
  // What belongs to a time-stamp follows it as closely as it can.
  return [...ofTimestamps, ...references, ...values].filter((text) => text !== '');
}

/** For the signer of a time-stamp. */
function evidenceFor(token: Buffer, at: number, source: EvidenceSource): Promise<Evidence> {
  const { certificate, certificates } = readTimestampToken(token);
  if (certificate === undefined) {
    throw new CryptoError('revocation.missing', "A time-stamp's signer can't be found in it.");
  }
  return source.collect(
    [certificate.der],
    certificates.map(({ der }) => der),
    at,
  );
}

function neededAuthority({ timestamps }: SigningServices): TimestampAuthority {
  if (timestamps !== undefined) return timestamps;
  throw new CryptoError('request.invalid', 'This level needs a time-stamp authority, and none is set.');
}

function neededEvidence({ evidence }: SigningServices): EvidenceSource {
  if (evidence !== undefined) return evidence;
  throw new CryptoError(
    'request.invalid',
    'This level needs answers about revocation, and nobody to ask is set.',
  );
}
