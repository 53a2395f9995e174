/** Inserts unsigned properties into signatures of a document and changes no other byte. */
import { CryptoError } from '../core/types.ts';
import { DS, XADES } from './elements/identifiers.ts';
import type { DocumentMap } from './validation/document-map.ts';
import { DataFault, findData, type ReferenceContext } from './validation/reference-data.ts';
import { childrenNamed, FormFault, holds, type SignatureNode } from './validation/signature-node.ts';
import { readReference, targetOf } from './validation/signed-info.ts';
import { stagesOf } from './validation/transforms.ts';

/** Text to insert into one signature. */
export interface Insertion {
  readonly signature: SignatureNode;
  /** Unsigned properties, each in canonical form with all its declarations. */
  readonly properties: string;
}

/** Replacement: bytes of the document up to `cut`, `text`, and from `resume` on. Offsets in UTF-8. */
interface Splice {
  readonly cut: number;
  readonly resume: number;
  readonly text: string;
}

/** Returns the document with the insertions as chunks in order; unchanged chunks are views of it. */
export function insertProperties(
  document: Buffer,
  { utf8, decoded }: DocumentMap,
  insertions: readonly Insertion[],
): [Buffer, ...Buffer[]] {
  const splices = insertions.map(({ signature, properties }) => spliceFor(utf8, signature, properties));
  splices.sort((a, b) => a.cut - b.cut);
  const [first] = splices;
  if (first === undefined) return [document];
  const parts: [Buffer, ...Buffer[]] = [document.subarray(0, decoded.toOriginal(first.cut))];
  splices.forEach(({ resume, text }, index) => {
    const next = splices[index + 1];
    const end = next === undefined ? document.length : decoded.toOriginal(next.cut);
    parts.push(decoded.encode(text), document.subarray(decoded.toOriginal(resume), end));
  });
  return parts;
}

const DECLARE = ` xmlns:xades="${XADES}"`;

function spliceFor(utf8: Buffer, signature: SignatureNode, properties: string): Splice {
  const qualifying = qualifyingOf(signature);
  const [unsigned] = childrenNamed(qualifying, XADES, 'UnsignedProperties');
  const [list] = childrenNamed(unsigned, XADES, 'UnsignedSignatureProperties');
  if (list !== undefined) return atEnd(utf8, list, properties);
  const wrapped = `<xades:UnsignedSignatureProperties${DECLARE}>${properties}</xades:UnsignedSignatureProperties>`;
  if (unsigned === undefined) {
    const all = `<xades:UnsignedProperties${DECLARE}>${wrapped}</xades:UnsignedProperties>`;
    return atEnd(utf8, qualifying, all);
  }
  // Signature properties precede data properties.
  const [first] = unsigned.children;
  if (first === undefined) return atEnd(utf8, unsigned, wrapped);
  return { cut: first.start, resume: first.start, text: wrapped };
}

function qualifyingOf(signature: SignatureNode): SignatureNode {
  for (const object of childrenNamed(signature, DS, 'Object')) {
    const [found] = childrenNamed(object, XADES, 'QualifyingProperties');
    if (found !== undefined) return found;
  }
  throw new CryptoError('signature.mismatch', 'A signature has no qualifying properties.');
}

/** Inserts the text as the last content of an element; expands an empty-element tag. */
function atEnd(utf8: Buffer, { start, end }: SignatureNode, text: string): Splice {
  if (utf8[end - 2] === SLASH) {
    const name =
      /^<([^\s/>]+)/.exec(utf8.toString('utf8', start, Math.min(end, start + MAX_NAME)))?.[1] ?? '';
    return { cut: end - 2, resume: end, text: `>${text}</${name}>` };
  }
  const cut = utf8.lastIndexOf('</', end - 1);
  return { cut, resume: cut, text };
}

const SLASH = 0x2f;
const MAX_NAME = 4200;

/**
 * Reason why a signature can't be changed: another signature covers it, or it covers itself. Undefined when it can.
 */
export function coveringSignature(context: ReferenceContext, signature: SignatureNode): string | undefined {
  const place = qualifyingOf(signature);
  for (const other of context.map.signatures) {
    for (const info of childrenNamed(other, DS, 'SignedInfo')) {
      for (const reference of childrenNamed(info, DS, 'Reference')) {
        if (!covers(context, other, reference, place)) continue;
        return other === signature
          ? 'it is over its own unsigned properties'
          : 'another signature is over it, which a change would make invalid';
      }
    }
  }
  return undefined;
}

/** True when the reference covers the whole element. */
function covers(
  context: ReferenceContext,
  owner: SignatureNode,
  node: SignatureNode,
  place: SignatureNode,
): boolean {
  try {
    const found = findData(context, readReference(node));
    if (found.kind === 'outside') return false;
    for (const { withoutSignatures, enveloped } of stagesOf(found.processing)) {
      if (withoutSignatures || (enveloped && holds(owner, place))) return false;
    }
    return found.kind === 'document' || holds(found.place, place);
  } catch (error) {
    if (error instanceof DataFault || error instanceof FormFault) return mayCover(context, node, place);
    throw error;
  }
}

/** True when the target of an unsupported reference contains the element. */
function mayCover(context: ReferenceContext, node: SignatureNode, place: SignatureNode): boolean {
  const uri = node.attributes.find(({ namespace, local }) => namespace === '' && local === 'URI')?.value;
  const target = targetOf(uri);
  if (target.kind === 'element') return context.map.elementsNamed(target.id).some((one) => holds(one, place));
  return target.kind !== 'outside';
}
