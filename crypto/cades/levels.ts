/** Signs CAdES at the levels B to LTA: hashes the content once, calls the services, then writes the output. */

import { completeSignedData, prepareSignedData } from '../cms/build.ts';
import type {
  SignatureLevel,
  SignatureParameters,
  SignedFile,
  Signer,
  SignFileRequest,
} from '../core/types.ts';
import type { SigningServices } from '../evidence/authorities.ts';
import { algorithmOf } from '../x509/signature-algorithms.ts';
import { type ContentDigests, hashSource } from './content-digests.ts';
import { writeEnveloping } from './envelope.ts';
import { type LevelServices, raiseLevel, servicesFor } from './raise-level.ts';
import { withFilesMeanwhile } from './signature-files.ts';

/**
 * Signs as `signCades`, at any level. The content of an enveloping signature is read twice, in bounded memory.
 * @throws {CryptoError} as `signCades`; `authority.unreachable`, `authority.refused`, `revocation.missing`,
 * `certificate.revoked`; `request.invalid` when a service that the level needs is not given
 */
export async function signCadesAtLevel(
  request: SignFileRequest,
  services: SigningServices,
): Promise<SignedFile> {
  const { signer, level = 'B', cades = {} } = request;
  const levelServices = servicesFor(level, services);
  return withFilesMeanwhile(request, cades.armor ?? 'der', async (source, output) => {
    const digests = hashSource(source, [algorithmOf(signer, request).digest]);
    const identified = { ...request, contentIdentifier: cades.contentIdentifier };
    const der = await signedDigests(digests, identified, levelServices);
    if (cades.detached === true) output.write(der);
    else writeEnveloping(der, source, digests, output);
    return { sha256: digests.sha256 };
  });
}

/** Signer, parameters and level. */
interface SignedDigestsRequest extends SignatureParameters {
  readonly signer: Signer;
  /** @default 'B' */
  readonly level?: SignatureLevel;
  /** As in `CadesFormat`. */
  readonly contentIdentifier?: string | undefined;
}

/**
 * Builds the DER of the SignedData without its content.
 * @param digests of the content; the one of `algorithmOf(signer, request)` among them
 * @throws {CryptoError} those of the key and of the services
 */
export async function signedDigests(
  digests: ContentDigests,
  request: SignedDigestsRequest,
  services: LevelServices | undefined,
): Promise<Buffer> {
  const { signer, at, level: to = 'B' } = request;
  const { digest } = algorithmOf(signer, request);
  const signedData = { ...request, messageDigest: digests.of(digest), signingTime: at };
  const { toBeSigned, algorithm } = prepareSignedData(signedData);
  const value = signer.key.sign(toBeSigned, algorithm);
  const baseline = completeSignedData(signedData, toBeSigned, value);
  return raiseLevel(baseline, { to, at, contentDigest: (name) => digests.all.get(name) }, services);
}
