/**
 * Augments existing signatures to a higher baseline level and renews archive time-stamps (EN 319 132-1 §5.5, §6.3).
 */

import { openSource, type Source } from '../core/files.ts';
import {
  type AugmentFileRequest,
  CryptoError,
  type InputFile,
  type OutputFile,
  type SignedFile,
} from '../core/types.ts';
import type { SigningServices } from '../evidence/authorities.ts';
import {
  type ExistingSignature,
  existingNodes,
  raisableExisting,
  readExisting,
} from './present-signature.ts';
import { coveringSignature, type Insertion, insertProperties } from './property-insertion.ts';
import { raiseLevel } from './raise-level.ts';
import { MAX_SIGNED_LENGTH, readDocument } from './read-document.ts';
import { writeChunks } from './signed-output.ts';
import { mapDocument } from './validation/document-map.ts';
import { type ContentFinder, type ReferenceContext, referenceContext } from './validation/reference-data.ts';
import type { SignatureNode } from './validation/signature-node.ts';

/**
 * Augments every intact, outermost XAdES signature of one file, by the contract of `augmentFile`. A signature that is
 * covered by another one stays unchanged. Properties are inserted; no other byte changes.
 *
 * A detached signature above `LT` needs `content`; below, its references are checked only when `content` is given.
 * @throws {CryptoError} `request.invalid` when there is no signature to augment or a service is not configured;
 *   `xml.existing-signature` when each of them is covered by another signature; `signature.mismatch` when all are
 *   broken; errors of reading, of the services and of writing. No output is left then.
 */
export async function augmentXades(
  request: AugmentFileRequest<InputFile, OutputFile>,
  services: SigningServices,
): Promise<SignedFile> {
  const source = openSource(request.input);
  const content = request.content === undefined ? undefined : openContent(request.content, source);
  try {
    const { document, parts } = await augmentedChunks(source, request, () => content, services);
    content?.assertUnchanged();
    return writeChunks(source, document, parts, request);
  } finally {
    content?.close();
    source.close();
  }
}

/**
 * Returns a document with its signatures augmented, as chunks in order.
 * @param find contents outside the document that references name
 * @throws {CryptoError} as `augmentXades`
 */
export async function augmentedChunks(
  source: Source,
  { to, at }: Pick<AugmentFileRequest<InputFile, OutputFile>, 'to' | 'at'>,
  find: ContentFinder,
  services: SigningServices,
): Promise<{ readonly document: Buffer; readonly parts: [Buffer, ...Buffer[]] }> {
  const document = readDocument(source, MAX_SIGNED_LENGTH);
  const map = mapDocument(document);
  const context = referenceContext(map, find);
  const insertions: Insertion[] = [];
  for (const present of intactAmong(context, changeableNodes(context, source))) {
    const { node } = present;
    const signature = raisableExisting(context, present, at);
    const added = await raiseLevel(signature, to, at, services);
    if (added.length > 0) insertions.push({ signature: node, properties: added.join('') });
  }
  return { document, parts: insertProperties(document, map, insertions) };
}

/**
 * Selects the intact signatures; broken ones stay unchanged. @throws {CryptoError} `signature.mismatch` when all are
 * broken
 */
function intactAmong(
  context: ReferenceContext,
  nodes: readonly SignatureNode[],
): readonly ExistingSignature[] {
  const sound: ExistingSignature[] = [];
  let broken: CryptoError | undefined;
  for (const node of nodes) {
    try {
      sound.push(readExisting(context, node));
    } catch (error) {
      if (!(error instanceof CryptoError) || error.code !== 'signature.mismatch') throw error;
      broken ??= error;
    }
  }
  if (sound.length === 0 && broken !== undefined) throw broken;
  return sound;
}

function openContent(path: InputFile, signature: Source): Source {
  try {
    return openSource(path);
  } catch (error) {
    signature.close();
    throw error;
  }
}

/**
 * Selects the signatures that properties can be added to.
 * @throws {CryptoError} `request.invalid` when there is none, `xml.existing-signature` when none can be changed
 */
export function changeableNodes(
  context: ReferenceContext,
  { path }: Source,
): ReturnType<typeof existingNodes> {
  const nodes = existingNodes(context.map);
  if (nodes.length === 0) {
    throw new CryptoError('request.invalid', `${path} has no XAdES signature.`);
  }
  const obstacles = nodes.map((node) => coveringSignature(context, node));
  const changeable = nodes.filter((_, at) => obstacles[at] === undefined);
  if (changeable.length > 0) return changeable;
  throw new CryptoError(
    'xml.existing-signature',
    `Nothing can be added to the signature in ${path}: ${obstacles[0]}.`,
  );
}
