/**
 * Members that an additional signature over all data objects adds to a container (EN 319 162-1 §4.3.3, §4.4.3, §5).
 */

import { algorithmOf } from '../algorithms/algorithm-choice.ts';
import { addedSigner } from '../cades/add-signer.ts';
import { hashSource } from '../cades/content-digests.ts';
import { signedDigests } from '../cades/levels.ts';
import { servicesFor } from '../cades/raise-level.ts';
import { CryptoError, type SignatureLevel, type SignatureParameters, type Signer } from '../core/types.ts';
import type { SigningServices } from '../evidence/authorities.ts';
import type { Source } from '../files/source.ts';
import { detachedSignature } from '../xades/detached-signature.ts';
import { uriOfName } from '../zip/zip-names.ts';
import { withArchiveManifest } from './archive.ts';
import type { Container } from './container.ts';
import { type AsicKind, freeName, NAMES } from './container-kinds.ts';
import { digestOf } from './hashing-source.ts';
import { manifestText, signaturesText } from './manifest-text.ts';
import { withExistingSignatures } from './signatures-file.ts';
import { type AddedMember, bytesMember, type ContainerEdit, textMember } from './write-container.ts';

export type AsicSignatureFormat = 'Cades' | 'Xades';

const CMS_TYPE = 'application/pkcs7-signature';

export interface NewSignatureRequest extends SignatureParameters {
  readonly signer: Signer;
  /** @default 'B' */
  readonly level?: SignatureLevel;
}

/** A file that is signed and stored next to the signature. */
export interface DataObject {
  readonly name: string;
  /** @default by the extension of the name */
  readonly mimeType?: string | undefined;
  readonly source: Source;
}

/** Container and members for the new signature. */
export interface SignaturePlace {
  readonly kind: AsicKind;
  readonly format: AsicSignatureFormat;
  /** Existing container; left out for a new one. */
  readonly container?: Container;
  /** New members other than the signature: the data objects of a new container. */
  readonly added: readonly AddedMember[];
}

/**
 * Creates the signature and its members. @throws {CryptoError} errors of the key, of reading, of the services and of
 * existing members
 */
export async function withSignature(
  objects: readonly DataObject[],
  place: SignaturePlace,
  request: NewSignatureRequest,
  services: SigningServices,
): Promise<ContainerEdit> {
  const { kind, format, added } = place;
  const make = format === 'Xades' ? xades : kind === 'S' ? cadesOverSingleFile : cadesOverManifest;
  return make(objects, { ...place, added }, request, services);
}

type SignatureBuilder = (
  objects: readonly DataObject[],
  place: SignaturePlace,
  request: NewSignatureRequest,
  services: SigningServices,
) => Promise<ContainerEdit>;

const xades: SignatureBuilder = async (objects, { kind, container, added }, request, services) => {
  const contents = objects.map(({ name, mimeType, source }) => ({
    uri: uriOfName(name),
    source,
    ...(mimeType === undefined ? {} : { mimeType }),
  }));
  const signature = await detachedSignature({ ...request, contents }, services);
  if (kind === 'E') {
    const name = freeName('signatures', 'xml', (taken) => container?.has(taken) === true);
    return { dropped: new Set(), added: [...added, textMember(name, signaturesText(signature))] };
  }
  // A container of one file has one signature file.
  const file = NAMES.signatures;
  const made = container?.has(file)
    ? bytesMember(file, withExistingSignatures(container.bytes(file), signature))
    : textMember(file, signaturesText(signature));
  return { dropped: new Set([file]), added: [...added, made] };
};

const cadesOverSingleFile: SignatureBuilder = async (objects, { container, added }, request, services) => {
  const [object] = objects;
  if (object === undefined) throw new CryptoError('request.invalid', 'There is nothing to sign.');
  const file = NAMES.signature;
  const existing = container?.has(file) ? container.member(file) : undefined;
  const der =
    existing === undefined
      ? await withNewSignature(object.source, request, services)
      : await addedSigner(existing, { ...request, content: object.source }, services);
  return { dropped: new Set([file]), added: [...added, bytesMember(file, der)] };
};

const cadesOverManifest: SignatureBuilder = async (objects, { container, added }, request, services) => {
  const { signer, level = 'B', at } = request;
  const { digest } = algorithmOf(signer, request);
  const isTaken = (name: string): boolean => container?.has(name) === true;
  const file = freeName('signature', 'p7s', isTaken);
  const text = manifestText({
    proof: { name: file, mimeType: CMS_TYPE },
    digest,
    members: objects.map(({ name, mimeType, source }) => ({
      name,
      mimeType,
      digest: digestOf(source, digest),
    })),
  });
  const manifest = textMember(freeName('ASiCManifest', 'xml', isTaken), text);
  // The archive time-stamp over the container makes one inside the signature redundant.
  const inside = { ...request, level: level === 'LTA' ? 'LT' : level } as const;
  const signature = bytesMember(file, await withNewSignature(manifest, inside, services));
  const edit = { dropped: new Set<string>(), added: [...added, manifest, signature] };
  return level === 'LTA' ? withArchiveManifest(container, edit, { digest, at }, services) : edit;
};

function withNewSignature(
  source: Source,
  request: NewSignatureRequest,
  services: SigningServices,
): Promise<Buffer> {
  const { signer, level = 'B' } = request;
  return signedDigests(
    hashSource(source, [algorithmOf(signer, request).digest]),
    request,
    servicesFor(level, services),
  );
}
