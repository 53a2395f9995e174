/** Brings existing CAdES files to a higher level, or renews their archive time-stamps (EN 319 122-1 §5.5, §6.3). */
import { Asn1Error } from '../asn1/error.ts';
import { OID } from '../asn1/oids.ts';
import type { SigningServices } from '../authorities.ts';
import type { SignedData } from '../cms/parse.ts';
import type { Source } from '../files/source.ts';
import { type AugmentFileRequest, CryptoError, type SignedFile } from '../types.ts';
import { type ExistingSignature, readExisting } from './existing-signature.ts';
import { raise, servicesFor } from './raise.ts';
import { withFilesMeanwhile } from './signature-files.ts';
import { assertOpen, assertSound } from './soundness.ts';

/**
 * Raises every signature in the file to the level; the file keeps its form: content inside or beside, DER or PEM.
 * `to: 'LTA'` on a file that has archive time-stamps adds the evidence for the newest ones and a new one over it all.
 * @throws {CryptoError} `cms.malformed`, `timestamp.malformed`, `input.unreadable`, `input.empty`, `input.changed`,
 *   `output.exists`, `output.unwritable`; `signature.mismatch` when a signature in it is broken; `request.invalid` when
 *   it is at that level already, when content is missing that LTA needs, or when an older archive time-stamp would
 *   break; what authorities throw
 */
export async function augmentCades(
  request: AugmentFileRequest,
  services: SigningServices,
): Promise<SignedFile> {
  return withFilesMeanwhile(request, 'as-input', async (source, output) => {
    const { existing, der } = await augmented(source, request, services);
    existing.write(der, output);
    return { sha256: existing.sha256 };
  });
}

/** As `AugmentFileRequest`, for files that are open. */
export type AugmentedRequest = Pick<AugmentFileRequest, 'to' | 'at'> & {
  readonly content?: string | Source;
};

/** A signature file at the level, as DER without the content. @throws {CryptoError} as `augmentCades` */
export async function augmented(
  source: Source,
  { to, at, content }: AugmentedRequest,
  services: SigningServices,
): Promise<{ readonly existing: ExistingSignature; readonly der: Buffer }> {
  const levelServices = servicesFor(to, services);
  const existing = readExisting(source, content);
  assertSound(existing, source);
  assertOpen(existing, source);
  assertHigher(existing.data, to, source.path);
  try {
    const { contentDigest } = existing;
    return { existing, der: await raise(existing.der, { to, at, contentDigest }, levelServices) };
  } catch (error) {
    if (!(error instanceof Asn1Error)) throw error;
    throw new CryptoError('cms.malformed', `The signature ${source.path} can't be read: ${error.message}.`);
  }
}

/** LTA can always be renewed; below it, adding what is there already would only make the file longer. */
function assertHigher({ signers }: SignedData, to: AugmentFileRequest['to'], path: string): void {
  const everywhere = (type: string) =>
    signers.every(({ unsignedAttributes }) => unsignedAttributes?.values.has(type) === true);
  const reached =
    (to === 'T' && everywhere(OID.signatureTimestamp)) || (to === 'LT' && everywhere(OID.archiveTimestampV3));
  if (reached) throw new CryptoError('request.invalid', `${path} is at level ${to} or above it already.`);
}
