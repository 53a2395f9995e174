/** Raises the signatures of a SignedData to the baseline levels T, LT and LTA (EN 319 122-1 §6.3). */
import { createHash } from 'node:crypto';
import { DIGEST_BY_OID, OID } from '../asn1/oids.ts';
import { amendSignedData } from '../cms/amend.ts';
import { parseSignedData, type SignedData, type SignerInfo } from '../cms/parse.ts';
import { signatureTimestampAttribute } from '../cms/unsigned-attributes.ts';
import { CryptoError, type DigestName, type SignatureLevel } from '../core/types.ts';
import type { EvidenceSource, SigningServices, TimestampAuthority } from '../evidence/authorities.ts';
import { archiveTimestamp } from './archive-timestamp.ts';
import { certificatesToProve } from './certificates-to-prove.ts';

export interface RaiseLevelRequest {
  readonly to: SignatureLevel;
  /** Now, milliseconds since the epoch. */
  readonly at: number;
  /** Values of the selected signatures; all of them when left out. */
  readonly signatures?: readonly Buffer[];
  /** Digest of the signed content; undefined when it is unavailable, which is an error for LTA only. */
  readonly contentDigest: (digest: DigestName) => Buffer | undefined;
}

/** Services that a level needs. */
export interface LevelServices {
  readonly timestamps: TimestampAuthority;
  readonly evidence: EvidenceSource | undefined;
}

/** Returns the services. @throws {CryptoError} `request.invalid` when one that the level needs is missing */
export function servicesFor(
  to: SignatureLevel,
  { timestamps, evidence }: SigningServices,
): LevelServices | undefined {
  if (to === 'B') return undefined;
  if (timestamps === undefined) {
    throw new CryptoError('request.invalid', `Level ${to} needs a time-stamp authority, and none is given.`);
  }
  if (to !== 'T' && evidence === undefined) {
    throw new CryptoError('request.invalid', `Level ${to} needs revocation answers, and no source is given.`);
  }
  return { timestamps, evidence };
}

/**
 * Adds the values of the level: a signature-time-stamp where there is none; certificates and revocation values
 * for all paths, those of time-stamps included; and a new archive-time-stamp-v3.
 * @param der with or without its content
 * @throws {Asn1Error} when `der` or a time-stamp in it can't be read
 * @throws {CryptoError} `request.invalid` for signatures that can't be raised, and the errors of the services
 */
export async function raiseLevel(
  der: Buffer,
  request: RaiseLevelRequest,
  services: LevelServices | undefined,
): Promise<Buffer> {
  if (services === undefined) return der;
  let raised = await withSignatureTimestamps(der, request, services);
  if (request.to === 'T' || services.evidence === undefined) return raised;
  raised = await withEvidence(raised, request, services.evidence);
  return request.to === 'LTA' ? withArchiveTimestamps(raised, request, services) : raised;
}

interface SelectedSigner {
  readonly place: number;
  readonly signer: SignerInfo;
}

function selectSigners({ signers }: SignedData, { signatures }: RaiseLevelRequest): SelectedSigner[] {
  return signers
    .map((signer, place) => ({ signer, place }))
    .filter(({ signer }) => signatures?.some((value) => signer.signature.equals(value)) !== false);
}

/**
 * Digest of new time-stamps over a signature: that of the signature, or SHA-256 when this engine does not make that
 * one.
 */
function digestFor({ digestAlgorithm }: SignerInfo): DigestName {
  return DIGEST_BY_OID.get(digestAlgorithm) ?? 'sha256';
}

async function withSignatureTimestamps(
  der: Buffer,
  request: RaiseLevelRequest,
  { timestamps }: LevelServices,
): Promise<Buffer> {
  const unsigned = new Map<number, readonly Buffer[]>();
  for (const { signer, place } of selectSigners(parseSignedData(der), request)) {
    if (signer.unsignedAttributes?.values.has(OID.signatureTimestamp) === true) continue;
    const digest = digestFor(signer);
    const token = await timestamps.stamp(createHash(digest).update(signer.signature).digest(), digest);
    unsigned.set(place, withAttribute(signer, signatureTimestampAttribute(token)));
  }
  return unsigned.size === 0 ? der : amendSignedData(der, { unsigned });
}

async function withEvidence(
  der: Buffer,
  request: RaiseLevelRequest,
  source: EvidenceSource,
): Promise<Buffer> {
  const data = parseSignedData(der);
  const signers = selectSigners(data, request).map(({ signer }) => signer);
  const { ends, others, newest } = certificatesToProve(data, signers);
  // The time-stamps prove the signature at their time, so revocation is checked for that time.
  const evidence = await source.collect(ends, others, Math.max(request.at, newest));
  return amendSignedData(der, evidence);
}

async function withArchiveTimestamps(
  der: Buffer,
  request: RaiseLevelRequest,
  { timestamps }: LevelServices,
): Promise<Buffer> {
  const data = parseSignedData(der);
  const unsigned = new Map<number, readonly Buffer[]>();
  for (const { signer, place } of selectSigners(data, request)) {
    const digest = digestFor(signer);
    const contentDigest = request.contentDigest(digest);
    if (contentDigest === undefined) {
      throw new CryptoError('request.invalid', 'An archive time-stamp needs the signed content.');
    }
    const attribute = await archiveTimestamp(data, signer, contentDigest, digest, timestamps);
    unsigned.set(place, withAttribute(signer, attribute));
  }
  return amendSignedData(der, { unsigned });
}

function withAttribute(signer: SignerInfo, attribute: Buffer): Buffer[] {
  return [...(signer.unsignedAttributes?.encodings ?? []), attribute];
}
