/** Raises existing CAdES files to a higher level, or renews their archive time-stamps (EN 319 122-1 §5.5, §6.3). */

import { OID } from '../asn1/oids.ts';
import { Asn1Error } from '../asn1/read.ts';
import type { SignedData, SignerInfo } from '../cms/parse.ts';
import type { Source } from '../core/files.ts';
import {
  type AugmentFileRequest,
  CryptoError,
  type InputFile,
  type OutputFile,
  type SignedFile,
} from '../core/types.ts';
import { type SigningServices, servicesFor } from '../evidence/authorities.ts';
import { evidenceInData } from '../evidence/embedded-evidence.ts';
import { revocationStatus } from '../evidence/revocation-status.ts';
import { readableCertificates } from '../x509/certificate.ts';
import {
  assertExtensible,
  type ExistingSignature,
  intactSigners,
  readExisting,
} from './existing-signature.ts';
import { certificatesToProve, raiseLevel } from './raise-level.ts';
import { withFilesMeanwhile } from './signature-files.ts';

/**
 * Raises every valid signature in the file to the level, as `augmentFile` defines; the file keeps its form:
 * enveloping
 * or detached, DER or PEM. `to: 'LTA'` on a file that has archive time-stamps adds the evidence for the newest ones
 * and a new one over all values.
 * @throws {CryptoError} `cms.malformed`, `timestamp.malformed`, `input.unreadable`, `input.empty`, `input.changed`,
 * `output.exists`, `output.unwritable`; `signature.mismatch` when all signatures are invalid; `request.invalid` when
 * content that LTA needs is missing, or when an older archive time-stamp would break; the errors of the services
 */
export async function augmentCades(
  request: AugmentFileRequest<InputFile, OutputFile>,
  services: SigningServices,
): Promise<SignedFile> {
  return withFilesMeanwhile(request, 'as-input', async (source, output) => {
    const { existing, der } = await augmented(source, request, services);
    existing.write(der, output);
    return { sha256: existing.sha256 };
  });
}

/** `AugmentFileRequest` for open files. */
type AugmentedRequest = Pick<AugmentFileRequest<InputFile, OutputFile>, 'to' | 'at'> & {
  readonly content?: InputFile | Source;
};

/** Returns a signature file at the level, as DER without the content. @throws {CryptoError} as `augmentCades` */
export async function augmented(
  source: Source,
  { to, at, content }: AugmentedRequest,
  services: SigningServices,
): Promise<{ readonly existing: ExistingSignature; readonly der: Buffer }> {
  const levelServices = servicesFor(to, services);
  const existing = readExisting(source, content);
  const sound = intactSigners(existing, source);
  assertExtensible(existing, source);
  try {
    if (isReached(existing, sound, { to, at })) return { existing, der: existing.der };
    const { contentDigest } = existing;
    const signatures = sound.map(({ signature }) => signature);
    return {
      existing,
      der: await raiseLevel(existing.der, { to, at, signatures, contentDigest }, levelServices),
    };
  } catch (error) {
    if (!(error instanceof Asn1Error)) throw error;
    throw new CryptoError('cms.malformed', `The signature ${source.path} can't be read: ${error.message}.`);
  }
}

/** True when the level is reached: LTA can always be renewed; below it, a repeated augmentation adds only bytes. */
function isReached(
  { data }: ExistingSignature,
  signers: readonly SignerInfo[],
  { to, at }: Pick<AugmentFileRequest<InputFile, OutputFile>, 'to' | 'at'>,
): boolean {
  const everywhere = (type: string) =>
    signers.every(({ unsignedAttributes }) => unsignedAttributes?.values.has(type) === true);
  if (to === 'LTA' || !everywhere(OID.signatureTimestamp)) return false;
  return to === 'T' || everywhere(OID.archiveTimestampV3) || isAnswered(data, signers, at);
}

/** True when the file has revocation values for every certificate that could be revoked. */
function isAnswered(data: SignedData, signers: readonly SignerInfo[], at: number): boolean {
  const { ends, others, newest } = certificatesToProve(data, signers);
  const evidence = evidenceInData(data);
  const known = others.flatMap(readableCertificates);
  return [...ends, ...others].flatMap(readableCertificates).every((certificate) => {
    const issuer = known.find((one) => one.subjectKey === certificate.issuerKey && certificate.signedBy(one));
    if (issuer === undefined) return !ends.some((der) => der.equals(certificate.der));
    if (issuer.fingerprint === certificate.fingerprint || certificate.ocspNoCheck) return true;
    return revocationStatus(certificate, issuer, { evidence, at: Math.min(newest, at) }).status !== 'unknown';
  });
}
