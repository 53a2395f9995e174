/** The signature as it is written, before anything is computed (XML Signature 1.1 §4). */

import type { CanonicalMethod } from '../../xml/index.ts';
import { DS, SIGNED_PROPERTIES_TYPE } from '../identifiers.ts';
import { type QualifyingProperties, readQualifyingProperties } from './qualifying-properties.ts';
import { type ReferenceForm, readReference } from './references.ts';
import {
  assertChildren,
  attributeOf,
  base64Of,
  childrenNamed,
  FormFault,
  onlyChild,
  optionalChild,
  requiredAttribute,
  type SignatureNode,
} from './signature-node.ts';
import { canonicalMethod, TransformFault } from './transforms.ts';

export interface SignatureForm {
  readonly node: SignatureNode;
  readonly id: string | undefined;
  readonly signedInfo: SignatureNode;
  readonly canonicalization: CanonicalMethod;
  /** URI. */
  readonly method: string;
  /** The method has parameters of its own. */
  readonly methodHasParameters: boolean;
  readonly references: readonly ReferenceForm[];
  readonly value: Buffer;
  readonly valueNode: SignatureNode;
  readonly keyInfo: SignatureNode | undefined;
  readonly objects: readonly SignatureNode[];
  readonly properties: QualifyingProperties | undefined;
}

/** References of one signature; real ones have two, those over many files some dozens. */
const MAX_REFERENCES = 1000;

/** @throws {FormFault} */
export function readSignatureForm(node: SignatureNode): SignatureForm {
  assertChildren(node, DS, 'SignedInfo', 'SignatureValue', 'KeyInfo?', 'Object*');
  const signedInfo = onlyChild(node, DS, 'SignedInfo');
  assertChildren(signedInfo, DS, 'CanonicalizationMethod', 'SignatureMethod', 'Reference*');
  const references = childrenNamed(signedInfo, DS, 'Reference');
  if (references.length === 0) throw new FormFault('SignedInfo has no reference, so nothing is signed');
  if (references.length > MAX_REFERENCES)
    throw new FormFault(`SignedInfo has more than ${MAX_REFERENCES} references`);
  const method = onlyChild(signedInfo, DS, 'SignatureMethod');
  const valueNode = onlyChild(node, DS, 'SignatureValue');
  return {
    node,
    id: attributeOf(node, 'Id'),
    signedInfo,
    canonicalization: signedInfoMethod(signedInfo),
    method: requiredAttribute(method, 'Algorithm'),
    methodHasParameters: method.children.length > 0 || method.text.trim() !== '',
    references: references.map(readReference),
    value: base64Of(valueNode),
    valueNode,
    keyInfo: optionalChild(node, DS, 'KeyInfo'),
    objects: childrenNamed(node, DS, 'Object'),
    properties: readQualifyingProperties(node),
  };
}

function signedInfoMethod(signedInfo: SignatureNode): CanonicalMethod {
  try {
    return canonicalMethod(onlyChild(signedInfo, DS, 'CanonicalizationMethod'));
  } catch (error) {
    if (error instanceof TransformFault) throw new FormFault(`for SignedInfo, ${error.message}`);
    throw error;
  }
}

/** True for a reference that says it is over signed properties. */
export function claimsProperties({ type }: ReferenceForm): boolean {
  return type === SIGNED_PROPERTIES_TYPE;
}
