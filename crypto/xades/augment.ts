/** Brings signatures that are there to a higher baseline level, and renews archive time-stamps (EN 319 132-1 §5.5, §6.3). */
import type { SigningServices } from '../authorities.ts';
import { openSource, type Source } from '../files/source.ts';
import { type AugmentFileRequest, CryptoError, type SignedFile } from '../types.ts';
import { type PresentSignature, presentNodes, raisablePresent, readPresent } from './present-signature.ts';
import { type Insertion, insertProperties, sealedBy } from './property-insertion.ts';
import { raise } from './raise.ts';
import { MAX_SIGNED_LENGTH, readDocument } from './read-document.ts';
import { writeParts } from './signed-output.ts';
import { mapDocument } from './validation/document-map.ts';
import { type ContentFinder, type DataRoom, dataRoom } from './validation/reference-data.ts';
import type { SignatureNode } from './validation/signature-node.ts';

/**
 * Augments every sound XAdES signature of one file, by the contract of `augmentFile`, that stands in no other one; a
 * signature that another one is over stays as it is. Properties are inserted, and no other byte changes.
 *
 * A detached signature above `LT` needs `content`; below, what it is over is checked when given.
 * @throws {CryptoError} `request.invalid` when there is no signature to augment or a service is not there;
 *   `xml.existing-signature` when another signature is over each of them; `signature.mismatch` when all are broken; those of
 *   reading, of the services and of writing. No output is left then.
 */
export async function augmentXades(
  request: AugmentFileRequest,
  services: SigningServices,
): Promise<SignedFile> {
  const source = openSource(request.input);
  const content = request.content === undefined ? undefined : openContent(request.content, source);
  try {
    const { document, parts } = await augmentedParts(source, request, () => content, services);
    content?.assertUnchanged();
    return writeParts(source, document, parts, request);
  } finally {
    content?.close();
    source.close();
  }
}

/**
 * A document, and the same with its signatures augmented, in order.
 * @param find what is signed outside of the document
 * @throws {CryptoError} as `augmentXades`
 */
export async function augmentedParts(
  source: Source,
  { to, at }: Pick<AugmentFileRequest, 'to' | 'at'>,
  find: ContentFinder,
  services: SigningServices,
): Promise<{ readonly document: Buffer; readonly parts: [Buffer, ...Buffer[]] }> {
  const document = readDocument(source, MAX_SIGNED_LENGTH);
  const map = mapDocument(document);
  const room = dataRoom(map, find);
  const insertions: Insertion[] = [];
  for (const present of soundAmong(room, openNodes(room, source))) {
    const { node } = present;
    const signature = raisablePresent(room, present, at);
    const added = await raise(signature, to, at, services);
    if (added.length > 0) insertions.push({ signature: node, properties: added.join('') });
  }
  return { document, parts: insertProperties(document, map, insertions) };
}

/** Broken ones beside them stay what they are. @throws {CryptoError} `signature.mismatch` when all are broken */
function soundAmong(room: DataRoom, nodes: readonly SignatureNode[]): readonly PresentSignature[] {
  const sound: PresentSignature[] = [];
  let broken: CryptoError | undefined;
  for (const node of nodes) {
    try {
      sound.push(readPresent(room, node));
    } catch (error) {
      if (!(error instanceof CryptoError) || error.code !== 'signature.mismatch') throw error;
      broken ??= error;
    }
  }
  if (sound.length === 0 && broken !== undefined) throw broken;
  return sound;
}

function openContent(path: string, signature: Source): Source {
  try {
    return openSource(path);
  } catch (error) {
    signature.close();
    throw error;
  }
}

/**
 * The signatures that something can be added to.
 * @throws {CryptoError} `request.invalid` when there is none, `xml.existing-signature` when none can be changed
 */
export function openNodes(room: DataRoom, { path }: Source): ReturnType<typeof presentNodes> {
  const nodes = presentNodes(room.map);
  if (nodes.length === 0) {
    throw new CryptoError('request.invalid', `${path} has no XAdES signature.`);
  }
  const seals = nodes.map((node) => ({ node, seal: sealedBy(room, node) }));
  const open = seals.filter(({ seal }) => seal === undefined).map(({ node }) => node);
  if (open.length > 0) return open;
  throw new CryptoError(
    'xml.existing-signature',
    `Nothing can be added to the signature in ${path}: ${seals[0]?.seal}.`,
  );
}
