/** XAdES signatures at the baseline levels T, LT and LTA, created in one call (EN 319 132-1 §6.3). */

import { openSource, type Source } from '../core/files.ts';
import {
  CryptoError,
  type SignatureLevel,
  type SignatureParameters,
  type SignedFile,
  type Signer,
  type SignerIdentity,
  type SignFileRequest,
} from '../core/types.ts';
import type { SigningServices } from '../evidence/authorities.ts';
import { algorithmOf } from '../x509/signature-algorithms.ts';
import { CLOSE_SIGNATURE, openSignature, signatureValueText } from './elements/signature-text.ts';
import { type DetachedContent, planDetached } from './plan.ts';
import { type RaisableSignature, raiseLevel } from './raise-level.ts';
import { type PlannedSignature, planSignature, signValue, textOf, writePlanned } from './sign.ts';

/**
 * Signs as `signXades` does, at `request.level` (default B). The input is read as often as for level B; the
 * authorities are called between signing and writing.
 * @throws {CryptoError} those of `signXades`; `request.invalid` when a service that the level needs is not
 *   configured; `authority.unreachable`, `authority.refused`, `revocation.missing`, `certificate.revoked`
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

/** Parameters of the steps that follow the signature value. */
interface LevelRequest extends Pick<SignFileRequest, 'output' | 'sync' | 'includeChain'> {
  readonly signer: SignerIdentity;
  readonly level?: SignatureLevel;
  readonly at: number;
}

/** Augments and writes a planned signature. @param value in the encoding of XML Signature (§6.4) */
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
    level === 'B' ? [] : await raiseLevel(raisableNew(planned, value, request), level, at, services);
  return writePlanned(source, planned, openSignature(text, value, unsigned), request);
}

/** Describes a signature created in this process, so that none of its parts are parsed again for time-stamps. */
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
    // EN 319 132-1 §5.5.2: the referenced data, then SignedInfo, SignatureValue and KeyInfo.
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

/** One signature over several files of a container (EN 319 162-1 §4.4). */
interface DetachedSignatureRequest extends SignatureParameters {
  readonly signer: Signer;
  /** @default 'B' */
  readonly level?: SignatureLevel;
  readonly contents: readonly DetachedContent[];
}

/**
 * Creates the ds:Signature element, in ASCII, for a document that has no other signature with the same identifiers:
 * they are derived from contents, signer and time. Each content is read once, in chunks.
 * @param services for the levels above B
 * @throws {CryptoError} `request.invalid` for no contents, a URI that names no file, or a missing service; errors of
 *   reading, of the key and of the services
 */
export async function detachedSignature(
  request: DetachedSignatureRequest,
  services: SigningServices = {},
): Promise<string> {
  const { signer, contents, at, level = 'B' } = request;
  if (contents.length === 0) throw new CryptoError('request.invalid', 'There is nothing to sign.');
  const algorithm = algorithmOf(signer, request);
  const plan = planDetached(contents, { signer, algorithm, at, archived: level === 'LTA' });
  const text = textOf(plan, signer, algorithm, request);
  const value = signValue(signer, text, algorithm);
  const planned = { plan, text, algorithm };
  const unsigned =
    level === 'B' ? [] : await raiseLevel(raisableNew(planned, value, request), level, at, services);
  return openSignature(text, value, unsigned) + CLOSE_SIGNATURE;
}
