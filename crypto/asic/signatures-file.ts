/** Adds a signature to a file of XAdES signatures; existing content keeps its bytes. */
import { CryptoError } from '../core/types.ts';
import { DS } from '../xades/elements/identifiers.ts';
import { type DocumentMap, mapDocument } from '../xades/validation/document-map.ts';
import { readReference, targetOf } from '../xades/validation/references.ts';
import { childrenNamed, FormFault, holds, type SignatureNode } from '../xades/validation/signature-node.ts';

/**
 * Returns the file with the signature added at the end.
 * @param signature a ds:Signature element in ASCII
 * @throws {CryptoError} `xml.*` of reading; `asic.malformed` when it is no list of signatures;
 *   `xml.existing-signature` when a signature covers the list itself; `request.invalid` when the same signature
 *   exists already
 */
export function withExistingSignatures(file: Buffer, signature: string): Buffer {
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
