/** Raises the signatures of a SignedData to the baseline levels T, LT and LTA (EN 319 122-1 §6.3). */
import { createHash } from 'node:crypto';
import { DIGEST_BY_OID, OID } from '../asn1/oids.ts';
import { type Element, encoded } from '../asn1/read.ts';
import { octetString, sequence } from '../asn1/write.ts';
import { amendSignedData } from '../cms/amend.ts';
import { archiveImprintData, indexedAttributes } from '../cms/archive-imprint.ts';
import { signatureTimestampAttribute, unsignedAttribute } from '../cms/attributes-template.ts';
import { parseSignedData, parseSignerInfo, type SignedData, type SignerInfo } from '../cms/parse.ts';
import { signerCertificate } from '../cms/signing-certificate.ts';
import { CryptoError, type DigestName, type SignatureLevel } from '../core/types.ts';
import type { EvidenceSource, LevelServices, TimestampAuthority } from '../evidence/authorities.ts';
import { readTimestampToken } from '../evidence/timestamp-reader.ts';
import { type Certificate, readableCertificates } from '../x509/certificate.ts';
import { digestIdentifier } from '../x509/signature-algorithms.ts';

interface RaiseLevelRequest {
  readonly to: SignatureLevel;
  /** Now, milliseconds since the epoch. */
  readonly at: number;
  /** Values of the selected signatures; all of them when left out. */
  readonly signatures?: readonly Buffer[];
  /** Digest of the signed content; undefined when it is unavailable, which is an error for LTA only. */
  readonly contentDigest: (digest: DigestName) => Buffer | undefined;
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
  if (services.evidence === undefined) return raised;
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
    const attribute = await archiveTimestamp(data, signer, { contentDigest, digest, authority: timestamps });
    unsigned.set(place, withAttribute(signer, attribute));
  }
  return amendSignedData(der, { unsigned });
}

function withAttribute(signer: SignerInfo, attribute: Buffer): Buffer[] {
  return [...(signer.unsignedAttributes?.encodings ?? []), attribute];
}

// Makes archive-time-stamp-v3 with its ats-hash-index-v3 (EN 319 122-1 §5.5.2 and §5.5.3).

/**
 * Requests an archive time-stamp over one signature and the present values of the SignedData: certificates,
 * revocation values and the unsigned attributes of this signer. Returns the DER of the Attribute.
 * @throws {CryptoError} `authority.unreachable`, `authority.refused`
 */
async function archiveTimestamp(
  data: SignedData,
  signer: SignerInfo,
  {
    contentDigest,
    digest,
    authority,
  }: {
    /** Of the signed content, made with `digest`. */
    readonly contentDigest: Buffer;
    readonly digest: DigestName;
    readonly authority: TimestampAuthority;
  },
): Promise<Buffer> {
  const index = hashIndex(data, signer, digest);
  const imprint = createHash(digest)
    .update(archiveImprintData(data, signer, contentDigest, index))
    .digest();
  const token = await authority.stamp(imprint, digest);
  return unsignedAttribute(OID.archiveTimestampV3, withIndex(token, index));
}

/**
 * Encodes the hash index (EN 319 122-1 §5.5.2); its algorithm must be that of the message imprint.
 *     ATSHashIndexV3 ::= SEQUENCE {
 *      hashIndAlgorithm             AlgorithmIdentifier,
 *      certificatesHashIndex        SEQUENCE OF OCTET STRING,
 *      crlsHashIndex                SEQUENCE OF OCTET STRING,
 *      unsignedAttrValuesHashIndex  SEQUENCE OF OCTET STRING }
 */
function hashIndex(data: SignedData, signer: SignerInfo, digest: DigestName): Buffer {
  const hashes = (all: readonly Buffer[]) =>
    sequence(...all.map((bytes) => octetString(createHash(digest).update(bytes).digest())));
  return sequence(
    digestIdentifier(digest),
    hashes(data.certificateChoices),
    hashes(data.revocationChoices),
    hashes(indexedAttributes(signer.unsignedAttributes, 3)),
  );
}

/** Adds the index as an unsigned attribute of the token's own signer; the message imprint covers it. */
function withIndex(token: Buffer, index: Buffer): Buffer {
  const before = parseSignedData(token).signers[0]?.unsignedAttributes?.encodings ?? [];
  const attributes = [...before, unsignedAttribute(OID.hashIndexV3, index)];
  return amendSignedData(token, { unsigned: new Map([[0, attributes]]) });
}

/** DER of certificates, each once. */
interface CertificatesToProve {
  readonly ends: readonly Buffer[];
  /** Certificates that may be on the paths of `ends`. */
  readonly others: readonly Buffer[];
  /** Time of the newest time-stamp, milliseconds since the epoch; 0 without one. */
  readonly newest: number;
}

/**
 * Returns signers, counter-signers and the signers of their time-stamps. For an archived signature: only the signers
 * of the newest archive time-stamp, which proves the rest, and of later time-stamps.
 * @throws {Asn1Error} for a counter-signature that can't be read
 * @throws {CryptoError} `cms.malformed` when a certificate is not inside; `timestamp.malformed`
 */
export function certificatesToProve(data: SignedData, signers: readonly SignerInfo[]): CertificatesToProve {
  const known = data.certificates.flatMap(readableCertificates);
  const ends = new Map<string, Certificate>();
  const others = new Map(known.map((certificate) => [certificate.fingerprint, certificate]));
  let newest = 0;
  const take = (signer: SignerInfo, among: readonly Certificate[], whose: string) => {
    const certificate = signerCertificate(signer, among);
    if (certificate === undefined) {
      throw new CryptoError('cms.malformed', `The certificate of ${whose} is not in the signature.`);
    }
    ends.set(certificate.fingerprint, certificate);
  };
  const visit = (signer: SignerInfo) => {
    const archives = signer.unsignedAttributes?.values.get(OID.archiveTimestampV3) ?? [];
    // An archive time-stamp covers the evidence of earlier certificates, some of which may have expired since.
    if (archives.length === 0) take(signer, known, 'a signer');
    const archived = timeOf(archives.at(-1));
    const stamps = timestampsIn(signer).filter((value) => archives.length === 0 || timeOf(value) > archived);
    for (const value of [...stamps, ...archives.slice(-1)]) {
      const token = readTimestampToken(encoded(value));
      newest = Math.max(newest, token.genTime);
      for (const certificate of token.certificates) others.set(certificate.fingerprint, certificate);
      for (const maker of token.signedData.signers)
        take(maker, [...token.certificates, ...known], 'a time-stamp');
    }
  };
  for (const signer of signers) {
    visit(signer);
    for (const value of signer.unsignedAttributes?.values.get(OID.counterSignature) ?? []) {
      visit(parseSignerInfo(value));
    }
  }
  const der = (certificates: Iterable<Certificate>) =>
    [...certificates].map((certificate) => certificate.der);
  return { ends: der(ends.values()), others: der(others.values()), newest };
}

/** Returns milliseconds since the epoch; 0 for none. */
function timeOf(value: Element | undefined): number {
  return value === undefined ? 0 : readTimestampToken(encoded(value)).genTime;
}

function timestampsIn({ attributes, unsignedAttributes }: SignerInfo): Element[] {
  return [
    ...(attributes?.values.get(OID.contentTimestamp) ?? []),
    ...(unsignedAttributes?.values.get(OID.signatureTimestamp) ?? []),
  ];
}
