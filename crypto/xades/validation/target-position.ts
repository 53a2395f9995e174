/**
 * The position that the target of a reference must have (XML Signature 1.1 §4.4.3.1, §4.5, §5.1 and §5.2).
 *
 * A digest of an element does not fix its position: a signed Object can be moved and replaced by another. A target is
 * therefore checked for the position in this signature that the Type of its reference, or its own name, requires.
 */
import type { Finding } from '../../core/finding.ts';
import { DS, MANIFEST_TYPE, OBJECT_TYPE } from '../elements/identifiers.ts';
import type { FoundData } from './reference-data.ts';
import type { ReferenceFormat } from './references.ts';
import { is, type SignatureNode } from './signature-node.ts';
import type { SignatureFormat } from './signed-info.ts';

/** Elements of XML Signature that a reference may cover at only one position of its own signature. */
const POSITIONS: ReadonlyMap<string, (form: SignatureFormat, start: number) => boolean> = new Map([
  ['Object', ({ objects }, start) => objects.some((object) => object.start === start)],
  ['Manifest', (form, start) => isInObject(form, start, 'Manifest')],
  ['SignatureProperties', (form, start) => isInObject(form, start, 'SignatureProperties')],
  ['KeyInfo', ({ keyInfo }, start) => keyInfo?.start === start],
]);

/** Reference types that state the target (XML Signature 1.1 §4.5 and §5.1). */
const TYPES: ReadonlyMap<string, string> = new Map([
  [OBJECT_TYPE, 'Object'],
  [MANIFEST_TYPE, 'Manifest'],
]);

/** Reports a target outside the position that its name or the reference's Type requires. */
export function misplacedTarget(
  form: SignatureFormat,
  { type }: ReferenceFormat,
  data: FoundData,
): Omit<Finding, 'detail'> | undefined {
  const place = data.kind === 'element' ? data.place : undefined;
  const declared = TYPES.get(type ?? '');
  const name = place?.namespace === DS ? place.local : undefined;
  if (declared !== undefined && declared !== name) {
    return misplaced(`A reference says it is over a ds:${declared}, but is over something else.`);
  }
  const isPlaced = POSITIONS.get(name ?? '');
  if (place === undefined || isPlaced === undefined || isPlaced(form, place.start)) return undefined;
  return misplaced(`A reference is over a ds:${name} that does not stand in its place in the signature.`);
}

function misplaced(message: string): Omit<Finding, 'detail'> {
  return { status: 'failed', type: 'reference.position', message, subIndication: 'SIGNED_DATA_NOT_FOUND' };
}

function isInObject({ objects }: SignatureFormat, start: number, local: string): boolean {
  const found = (child: SignatureNode): boolean => is(child, DS, local) && child.start === start;
  return objects.some(({ children }) => children.some(found));
}
