/** The members that one more signature over all data objects adds to a container (EN 319 162-1 §4.3.3, §4.4.3, §5). */

import type { SigningServices } from '../authorities.ts';
import { addedSigner } from '../cades/add-signer.ts';
import { hashSource } from '../cades/content-digests.ts';
import { servicesFor } from '../cades/raise.ts';
import { signedDigests } from '../cades/sign-at-level.ts';
import type { Source } from '../files/source.ts';
import { algorithmOf } from '../keys/algorithm.ts';
import { CryptoError, type SignatureLevel, type SignatureParameters, type Signer } from '../types.ts';
import { detachedSignature } from '../xades/detached-signature.ts';
import { archived } from './archive.ts';
import type { Container } from './container.ts';
import { type AsicKind, freeName, NAMES } from './container-kinds.ts';
import { manifestText, signaturesText } from './manifest-text.ts';
import { digestOf } from './measured-source.ts';
import { besideOthers } from './signatures-file.ts';
import { type AddedMember, bytesMember, type ContainerEdit, textMember } from './write-container.ts';
import { uriOfName } from './zip-names.ts';

export type AsicSignatureFormat = 'Cades' | 'Xades';

const CMS_TYPE = 'application/pkcs7-signature';

export interface NewSignatureRequest extends SignatureParameters {
  readonly signer: Signer;
  /** @default 'B' */
  readonly level?: SignatureLevel;
}

/** What is signed: a file beside the signature. */
export interface DataObject {
  readonly name: string;
  /** @default by the extension of the name */
  readonly mimeType?: string | undefined;
  readonly source: Source;
}

/** Where the signature comes to. */
export interface SignaturePlace {
  readonly kind: AsicKind;
  readonly format: AsicSignatureFormat;
  /** Left out, the container is a new one. */
  readonly container?: Container;
  /** Members that are new besides the signature; the data objects of a new container. */
  readonly added: readonly AddedMember[];
}

/** @throws {CryptoError} those of the key, of reading and of the services; of what is there already */
export async function withSignature(
  objects: readonly DataObject[],
  place: SignaturePlace,
  request: NewSignatureRequest,
  services: SigningServices,
): Promise<ContainerEdit> {
  const { kind, format, added } = place;
  const make = format === 'Xades' ? xades : kind === 'S' ? cadesAlone : cadesOverManifest;
  return make(objects, { ...place, added }, request, services);
}

type Make = (
  objects: readonly DataObject[],
  place: SignaturePlace,
  request: NewSignatureRequest,
  services: SigningServices,
) => Promise<ContainerEdit>;

const xades: Make = async (objects, { kind, container, added }, request, services) => {
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
  // A container of one file has one file of signatures.
  const file = NAMES.signatures;
  const made = container?.has(file)
    ? bytesMember(file, besideOthers(container.bytes(file), signature))
    : textMember(file, signaturesText(signature));
  return { dropped: new Set([file]), added: [...added, made] };
};

const cadesAlone: Make = async (objects, { container, added }, request, services) => {
  const [object] = objects;
  if (object === undefined) throw new CryptoError('request.invalid', 'There is nothing to sign.');
  const file = NAMES.signature;
  const existing = container?.has(file) ? container.member(file) : undefined;
  const der =
    existing === undefined
      ? await signed(object.source, request, services)
      : await addedSigner(existing, { ...request, content: object.source }, services);
  return { dropped: new Set([file]), added: [...added, bytesMember(file, der)] };
};

const cadesOverManifest: Make = async (objects, { container, added }, request, services) => {
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
  // What an archive time-stamp inside the signature would prove, the one over the container proves.
  const inside = { ...request, level: level === 'LTA' ? 'LT' : level } as const;
  const signature = bytesMember(file, await signed(manifest, inside, services));
  const edit = { dropped: new Set<string>(), added: [...added, manifest, signature] };
  return level === 'LTA' ? archived(container, edit, { digest, at }, services) : edit;
};

function signed(source: Source, request: NewSignatureRequest, services: SigningServices): Promise<Buffer> {
  const { signer, level = 'B' } = request;
  return signedDigests(
    hashSource(source, [algorithmOf(signer, request).digest]),
    request,
    servicesFor(level, services),
  );
}
