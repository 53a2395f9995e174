/** Augments the signatures of a container and renews its archive time-stamps (EN 319 162-1 §4.4.4, §5). */

import { augmented } from '../cades/augment.ts';
import type { Source } from '../core/files.ts';
import { assertRequest } from '../core/request-checks.ts';
import {
  type AugmentFileRequest,
  CryptoError,
  type InputFile,
  type OutputFile,
  type SignedFile,
} from '../core/types.ts';
import type { SigningServices } from '../evidence/authorities.ts';
import { augmentedChunks } from '../xades/augment.ts';
import { nameOfUri } from '../zip/zip-names.ts';
import { rewritten, withContainer } from './add-signature.ts';
import { archivedNames, withArchiveManifest } from './archive.ts';
import type { Container } from './container.ts';
import { MAX_MANIFEST, readManifest } from './manifest.ts';
import { type AddedMember, bytesMember, type ContainerEdit } from './write-container.ts';

type AugmentAsicRequest = Omit<AugmentFileRequest<InputFile, OutputFile>, 'format' | 'content'>;

/**
 * Augments every signature of a container that can still change. `LTA` always adds an archive time-stamp: inside each
 * signature, or for CAdES in ASiC-E one over the container. All other members keep their bytes.
 * Source: EN 319 162-1 §4.4.4, §5.
 * @throws {CryptoError} `asic.malformed`, `asic.unsafe`; `request.invalid` when there is no signature or each has
 *   that level or is covered by an archive time-stamp; those of `augmentCades` and `augmentXades`
 */
export async function augmentAsic(
  request: AugmentAsicRequest,
  services: SigningServices,
): Promise<SignedFile> {
  assertRequest(undefined, request, ['at']);
  return withContainer(request.input, async (container) => {
    const archived = archivedNames(container);
    const all = container.named('xades', 'cades');
    const files = all.filter((name) => !archived.has(name));
    const byManifest = container.kind === 'E' && all.some((name) => name.endsWith('.p7s'));
    const renewed = request.to === 'LTA' && byManifest;
    if (all.length === 0 || (files.length === 0 && !renewed)) {
      throw new CryptoError(
        'request.invalid',
        `${container.source.path} has no signature that could be augmented.`,
      );
    }
    const added: AddedMember[] = [];
    for (const name of files) {
      const bytes = await raised(container, name, request, services);
      if (bytes !== undefined) added.push(bytesMember(name, bytes));
    }
    const edit: ContainerEdit = { dropped: new Set(added.map(({ path }) => path)), added };
    const { at } = request;
    const whole = renewed
      ? await withArchiveManifest(container, edit, { digest: 'sha256', at }, services)
      : edit;
    return rewritten(container, whole, request);
  });
}

/** Augments a signature file to the level; undefined when it stays unchanged. */
async function raised(
  container: Container,
  name: string,
  { to, at }: AugmentAsicRequest,
  services: SigningServices,
): Promise<Buffer | undefined> {
  const source = container.member(name);
  if (source === undefined) return undefined;
  if (!name.endsWith('.p7s')) {
    const find = (uri: string | undefined): Source | undefined => {
      const found = nameOfUri(uri);
      return found === undefined ? undefined : container.member(found);
    };
    const { parts } = await augmentedChunks(source, { to, at }, find, services);
    return Buffer.concat(parts);
  }
  const content = contentOf(container, name);
  // The archive time-stamp of such a signature covers the container.
  const inside = container.kind === 'E' && to === 'LTA' ? 'LT' : to;
  const { existing, der } = await augmented(source, { to: inside, at, content }, services);
  const parts: Buffer[] = [];
  existing.write(der, { write: (...more) => parts.push(...more.map((part) => Buffer.from(part))) });
  return Buffer.concat(parts);
}

/** Content of a CAdES signature: the only file, or its manifest. @throws {CryptoError} `asic.malformed` */
function contentOf(container: Container, file: string): Source {
  const names = container.kind === 'S' ? container.named('data') : manifestsOf(container, file);
  const [name, ...more] = names;
  const source = name === undefined || more.length > 0 ? undefined : container.member(name);
  if (source !== undefined) return source;
  throw new CryptoError('asic.malformed', `What the signature ${file} is over can't be told.`);
}

function manifestsOf(container: Container, file: string): string[] {
  return container.named('manifest').filter((name) => {
    const manifest = readManifest(container.bytes(name, MAX_MANIFEST));
    return !('reason' in manifest) && nameOfUri(manifest.proof) === file;
  });
}
