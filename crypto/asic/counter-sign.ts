/** Counter-signatures of signatures in a container (EN 319 122-1 §5.2.7, EN 319 132-1 §5.2.7). */

import { counterSigned } from '../cades/counter-sign.ts';
import { assertRequest } from '../core/request-checks.ts';
import { type ChangedFile, CryptoError, type SignedFile, type Signer } from '../core/types.ts';
import type { SigningServices } from '../evidence/authorities.ts';
import { counterSignedChunks } from '../xades/counter-sign.ts';
import { rewritten, withContainer } from './add-signature.ts';
import { archivedNames } from './archive.ts';
import { bytesMember } from './write-container.ts';

/** `level`: above B for XAdES only. */
interface CounterSignAsicRequest extends ChangedFile {
  readonly signer: Signer;
  /** Member whose signatures are counter-signed, such as `META-INF/signatures.xml`. @default every signature file */
  readonly file?: string;
}

/**
 * Counter-signs the signatures of a container inside their files. All other members keep their bytes.
 * Source: EN 319 122-1 §5.2.7, EN 319 132-1 §5.2.7.
 * @throws {CryptoError} `asic.malformed`, `asic.unsafe`; `request.invalid` when there is no such file, when an
 *   archive time-stamp covers it so that it can't change, or for a CAdES counter-signature above level B; those of
 *   `signAsic`
 */
export async function counterSignAsic(
  request: CounterSignAsicRequest,
  services: SigningServices = {},
): Promise<SignedFile> {
  assertRequest(undefined, request, ['at', 'signer']);
  const { file, level = 'B' } = request;
  return withContainer(request.input, async (container) => {
    const files = container.named('xades', 'cades').filter((name) => file === undefined || name === file);
    if (files.length === 0) {
      throw new CryptoError(
        'request.invalid',
        `${container.source.path} has no such signature to counter-sign.`,
      );
    }
    const archived = archivedNames(container);
    if (files.some((name) => archived.has(name))) {
      throw new CryptoError(
        'request.invalid',
        'An archive time-stamp of the container is over the signature.',
      );
    }
    const added = [];
    for (const name of files) {
      const source = container.member(name);
      if (source === undefined) continue;
      if (name.endsWith('.p7s')) {
        if (level !== 'B')
          throw new CryptoError('request.invalid', 'CAdES counter-signatures are of level B.');
        const { existing, der } = counterSigned(source, request);
        const parts: Buffer[] = [];
        existing.write(der, { write: (...more) => parts.push(...more.map((part) => Buffer.from(part))) });
        added.push(bytesMember(name, Buffer.concat(parts)));
      } else {
        const { parts } = await counterSignedChunks(source, request, services);
        added.push(bytesMember(name, Buffer.concat(parts)));
      }
    }
    return rewritten(container, { dropped: new Set(files), added }, request);
  });
}
