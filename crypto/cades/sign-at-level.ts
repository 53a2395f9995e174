/** CAdES at the levels B to LTA: the content is hashed once, authorities are asked, then everything is written. */
import type { SigningServices } from '../authorities.ts';
import { completeSignedData, prepareSignedData } from '../cms/build.ts';
import { algorithmOf } from '../keys/algorithm.ts';
import type { SignedFile, SignFileRequest } from '../types.ts';
import { hashSource } from './content-digests.ts';
import { writeEnveloping } from './finish.ts';
import { raise, servicesFor } from './raise.ts';
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
  const { signer, at, level: to = 'B', cades = {} } = request;
  const levelServices = servicesFor(to, services);
  return withFilesMeanwhile(request, cades.armor ?? 'der', async (source, output) => {
    const { digest } = algorithmOf(signer, request);
    const digests = hashSource(source, [digest]);
    const signedData = { ...request, messageDigest: digests.of(digest), signingTime: at };
    const { toBeSigned, algorithm } = prepareSignedData(signedData);
    const value = signer.key.sign(toBeSigned, algorithm);
    const baseline = completeSignedData(signedData, toBeSigned, value);
    const der = await raise(
      baseline,
      { to, at, contentDigest: (name) => digests.all.get(name) },
      levelServices,
    );
    if (cades.detached === true) output.write(der);
    else writeEnveloping(der, source, digests, output);
    return { sha256: digests.sha256 };
  });
}
