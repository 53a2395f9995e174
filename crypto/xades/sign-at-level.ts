/** XAdES signatures at the baseline levels T, LT and LTA, made in one go (EN 319 132-1 §6.3). */
import type { SigningServices } from '../authorities.ts';
import { openSource, type Source } from '../files/source.ts';
import {
  CryptoError,
  type SignatureLevel,
  type SignedFile,
  type SignerIdentity,
  type SignFileRequest,
} from '../types.ts';
import { type RaisableSignature, raise } from './raise.ts';
import { type PlannedSignature, planSignature, signValue, writePlanned } from './sign.ts';
import { openSignature, signatureValueText } from './signature-text.ts';

/**
 * As `signXades`, at `request.level` (default B). The input is read as often as for level B; authorities are asked
 * between signing and writing.
 * @throws {CryptoError} those of `signXades`; `request.invalid` when a service that the level needs is not there;
 *   `authority.unreachable`, `authority.refused`, `revocation.missing`, `certificate.revoked`
 */
export async function signXadesAtLevel(
  request: SignFileRequest,
  services: SigningServices,
): Promise<SignedFile> {
  const source = openSource(request.input);
  try {
    const planned = planSignature(source, request.signer, request);
    const value = signValue(request.signer, planned.text, planned.algorithm);
    return await writeAtLevel(source, planned, value, request, services);
  } finally {
    source.close();
  }
}

/** What is left to do when the value is there. */
export interface LevelRequest extends Pick<SignFileRequest, 'output' | 'sync' | 'includeChain'> {
  readonly signer: SignerIdentity;
  readonly level?: SignatureLevel;
  readonly at: number;
}

/** @param value as XML Signature writes it */
export async function writeAtLevel(
  source: Source,
  planned: PlannedSignature,
  value: Buffer,
  request: LevelRequest,
  services: SigningServices,
): Promise<SignedFile> {
  const { text } = planned;
  const { level = 'B', at } = request;
  const unsigned =
    level === 'B' ? [] : await raise(raisableNew(planned, value, request), level, at, services);
  return writePlanned(source, planned, openSignature(text, value, unsigned), request);
}

/** A signature of which everything is known: no part of it has to be read again for its time-stamps. */
export function raisableNew(
  { plan, text, algorithm, completeReferences = false }: Omit<PlannedSignature, 'document'>,
  value: Buffer,
  { signer, includeChain = true }: Pick<LevelRequest, 'signer' | 'includeChain'>,
): RaisableSignature {
  const signatureValue = signatureValueText(text, value);
  return {
    id: text.id,
    digest: algorithm.digest,
    certificate: signer.certificate,
    certificates: includeChain ? [signer.certificate, ...signer.chain] : [signer.certificate],
    signatureValue,
    signatureTimestamps: [],
    archiveTimestamps: [],
    hasCertificateValues: false,
    hasRevocationValues: false,
    wantsReferences: completeReferences,
    lastArchiveIsProven: false,
    // EN 319 132-1 §5.5.2: what the references are over, then SignedInfo, SignatureValue and KeyInfo.
    archived: () => {
      if (plan.signed === undefined) {
        throw new CryptoError('request.invalid', 'The signature was not planned for an archive time-stamp.');
      }
      const hash = plan.signed.copy();
      for (const part of [text.signedProperties, text.signedInfo, signatureValue, text.keyInfo]) {
        hash.update(part);
      }
      return hash;
    },
    writeObjects: (sink) => plan.writeObjects?.(sink),
  };
}
