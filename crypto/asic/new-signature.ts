/**
 * Members that an additional signature over all data objects adds to a container (EN 319 162-1 §4.3.3, §4.4.3, §5).
 */
import { addedSigner } from '../cades/add-signer.ts';
import { hashSource } from '../cades/content-digests.ts';
import { signedDigest } from '../cades/sign.ts';
import type { Source } from '../core/files.ts';
import {
  CryptoError,
  type RemoteSigner,
  type SignatureLevel,
  type SignatureParameters,
  type Signer,
} from '../core/types.ts';
import { type SigningServices, servicesFor } from '../evidence/authorities.ts';
import { algorithmOf } from '../x509/signature-algorithms.ts';
import { DS } from '../xades/elements/identifiers.ts';
import { detachedSignature } from '../xades/sign.ts';
import { type DocumentMap, mapDocument } from '../xades/validation/document-map.ts';
import { childrenNamed, FormFault, holds, type SignatureNode } from '../xades/validation/signature-node.ts';
import { readReference, targetOf } from '../xades/validation/signed-info.ts';
import { uriOfName } from '../zip/zip-names.ts';
import { withArchiveManifest } from './archive.ts';
import { type AsicKind, type Container, freeName, NAMES } from './container.ts';
import { digestOf } from './hashing-source.ts';
import { manifestText, signaturesText } from './manifest.ts';
import { type AddedMember, bytesMember, type ContainerEdit, textMember } from './write-container.ts';

export type AsicSignatureFormat = 'Cades' | 'Xades';

const CMS_TYPE = 'application/pkcs7-signature';

interface NewSignatureRequest extends SignatureParameters {
  readonly signer: Signer | RemoteSigner;
  /** @default 'B' */
  readonly level?: SignatureLevel;
}

/** A file that is signed and stored next to the signature. */
interface DataObject {
  readonly name: string;
  /** @default by the extension of the name */
  readonly mimeType?: string | undefined;
  readonly source: Source;
}

/** Container and members for the new signature. */
interface SignaturePlace {
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
  const { digest } = algorithmOf(signer, request);
  const contentDigest = hashSource(source, [digest]).of(digest);
  return signedDigest({ ...request, contentDigest }, servicesFor(level, services));
}

/**
 * Returns the file with the signature added at the end.
 * @param signature a ds:Signature element in ASCII
 * @throws {CryptoError} `xml.*` of reading; `asic.malformed` when it is no list of signatures;
 *   `xml.existing-signature` when a signature covers the list itself; `request.invalid` when the same signature
 *   exists already
 */
function withExistingSignatures(file: Buffer, signature: string): Buffer {
  const map = mapDocument(file);
  const { root, decoded, signatures } = map;
  if (!/(^|:)XAdESSignatures$/.test(root.name) || root.empty || signatures.length === 0) {
    throw new CryptoError(
      'asic.malformed',
      'The file of signatures in the container is no list of signatures.',
    );
  }
  const id = /Id="([^"]+)"/.exec(signature)?.[1];
  if (id === undefined || map.elementsNamed(id).length > 0 || file.includes(`"${id}"`)) {
    throw new CryptoError('request.invalid', 'The container has this very signature already.');
  }
  for (const existing of signatures) assertOverOthers(map, existing);
  const at = decoded.toOriginal(root.contentEnd);
  return Buffer.concat([file.subarray(0, at), decoded.encode(signature), file.subarray(at)]);
}

/** Checks that the signature covers only its own content or other files. */
function assertOverOthers(map: DocumentMap, signature: SignatureNode): void {
  const lists = childrenNamed(signature, DS, 'SignedInfo');
  for (const node of lists.flatMap((list) => childrenNamed(list, DS, 'Reference'))) {
    const target = targetOf(uriOf(node));
    if (target.kind === 'outside') continue;
    const places = target.kind === 'element' ? map.elementsNamed(target.id) : [];
    const [outer] = map.outermost.filter((one) => holds(one, signature));
    if (places.length === 1 && places.every((place) => outer !== undefined && holds(outer, place))) continue;
    throw new CryptoError(
      'xml.existing-signature',
      'A signature in the container is over the file that the new one would stand in.',
    );
  }
}

function uriOf(node: SignatureNode): string | undefined {
  try {
    return readReference(node).uri;
  } catch (error) {
    if (!(error instanceof FormFault)) throw error;
    throw new CryptoError('asic.malformed', `A signature in the container can't be read: ${error.message}.`);
  }
}
