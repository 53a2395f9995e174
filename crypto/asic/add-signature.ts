/** Adds a signature to an existing container (EN 319 162-1 §4.3.3, §4.4.3). */

import { openSource, type Source } from '../core/files.ts';
import { assertRequest } from '../core/request-checks.ts';
import {
  type ChangedFile,
  CryptoError,
  type InputFile,
  type OutputFile,
  type RemoteSigner,
  type SignedFile,
  type Signer,
} from '../core/types.ts';
import type { SigningServices } from '../evidence/authorities.ts';
import { assertIntact } from '../zip/zip-member.ts';
import { Container } from './container.ts';
import { type AsicSignatureFormat, withSignature } from './new-signature.ts';
import { type ContainerEdit, writeContainer } from './write-container.ts';

interface AddAsicSignatureRequest extends ChangedFile {
  readonly signer: Signer | RemoteSigner;
  /** @default the format of the existing signatures; XAdES when it has both or none */
  readonly format?: AsicSignatureFormat;
}

/**
 * Signs all data objects of a container again. Every other member keeps its bytes; in ASiC-S the new signature is
 * added to the existing signature file.
 * Source: EN 319 162-1 §4.3.3, §4.4.3.
 * @throws {CryptoError} `asic.malformed`, `asic.unsafe`; `request.invalid` when there is nothing to sign or an ASiC-S
 *   container has signatures of the other format; those of `signAsic`
 */
export async function addAsicSignature(
  request: AddAsicSignatureRequest,
  services: SigningServices = {},
): Promise<SignedFile> {
  assertRequest(undefined, request, ['at', 'signer']);
  return withContainer(request.input, async (container) => {
    const { kind } = container;
    const names = container.named('data');
    const has = { Cades: container.named('cades').length > 0, Xades: container.named('xades').length > 0 };
    const { format = has.Cades && !has.Xades ? 'Cades' : 'Xades' } = request;
    if (names.length === 0 || (kind === 'S' && names.length > 1)) {
      throw new CryptoError('request.invalid', `A container of its kind can't hold ${names.length} files.`);
    }
    if (kind === 'S' && has[format === 'Cades' ? 'Xades' : 'Cades']) {
      throw new CryptoError('request.invalid', 'A container of one file has signatures of one format only.');
    }
    const objects = names.flatMap((name) => {
      const source = container.member(name);
      return source === undefined ? [] : [{ name, source }];
    });
    const edit = await withSignature(objects, { kind, format, container, added: [] }, request, services);
    return rewritten(container, edit, request);
  });
}

/** Opens a container and checks that all members are intact. */
export async function withContainer<T>(
  path: InputFile,
  work: (container: Container) => Promise<T>,
): Promise<T> {
  const source: Source = openSource(path);
  try {
    const container = new Container(source);
    for (const entry of container.directory.entries) assertIntact(source, entry);
    return await work(container);
  } finally {
    source.close();
  }
}

/** Writes the edited container. */
export function rewritten(
  container: Container,
  edit: ContainerEdit,
  request: { readonly output: OutputFile; readonly sync?: boolean; readonly at: number },
): SignedFile {
  const { source } = container;
  const output = writeContainer(request, edit, container);
  const { size: length, mtimeMs, inode } = source;
  return { input: { sha256: container.sha256, length, mtimeMs, inode }, output };
}
