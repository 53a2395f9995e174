/** CAdES at the levels B to LTA: the content is hashed once, authorities are asked, then everything is written. */
import type { SigningServices } from '../authorities.ts';
import { completeSignedData, prepareSignedData } from '../cms/build.ts';
import { algorithmOf } from '../keys/algorithm.ts';
import type { SignatureLevel, SignatureParameters, SignedFile, Signer, SignFileRequest } from '../types.ts';
import { type ContentDigests, hashSource } from './content-digests.ts';
import { writeEnveloping } from './finish.ts';
import { type LevelServices, raise, servicesFor } from './raise.ts';
import { withFilesMeanwhile } from './signature-files.ts';

/**
 * As `signCades`, at any level. Content that goes inside is read twice, so files of any size stay out of memory.
 * @throws {CryptoError} as `signCades`; `authority.unreachable`, `authority.refused`, `revocation.missing`,
 *   `certificate.revoked`; `request.invalid` when the level needs an authority that is not given
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

/** Who signs, and to which level. */
export interface SignedDigestsRequest extends SignatureParameters {
  readonly signer: Signer;
  /** @default 'B' */
  readonly level?: SignatureLevel;
  /** As in `CadesForm`. */
  readonly contentIdentifier?: string | undefined;
}

/**
 * DER of the SignedData, its content left out.
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
  return raise(baseline, { to, at, contentDigest: (name) => digests.all.get(name) }, services);
}
