/** Parsed ds:Signature (XML Signature 1.1 §4); nothing is computed here. */

import type { CanonicalMethod } from '../../xml/index.ts';
import { DS, SIGNED_PROPERTIES_TYPE } from '../elements/identifiers.ts';
import { type QualifyingProperties, readQualifyingProperties } from './qualifying-properties.ts';
import { type ReferenceFormat, readReference } from './references.ts';
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

export interface SignatureFormat {
  readonly node: SignatureNode;
  readonly id: string | undefined;
  readonly signedInfo: SignatureNode;
  readonly canonicalization: CanonicalMethod;
  /** URI of the signature method. */
  readonly method: string;
  /** True when the method has parameters. */
  readonly methodHasParameters: boolean;
  readonly references: readonly ReferenceFormat[];
  readonly value: Buffer;
  readonly valueNode: SignatureNode;
  readonly keyInfo: SignatureNode | undefined;
  readonly objects: readonly SignatureNode[];
  readonly properties: QualifyingProperties | undefined;
}

/** Limit of references in one signature; usual are two, with many files some dozens. */
const MAX_REFERENCES = 1000;

/**
 * Reads ds:Signature. @throws {FormFault}
 *
 * Signature  = SignedInfo, SignatureValue, KeyInfo?, Object*, @Id?
 * SignedInfo = CanonicalizationMethod, SignatureMethod, Reference+, @Id?
 */
export function readSignatureForm(node: SignatureNode): SignatureFormat {
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

/** True for a reference whose type is SignedProperties. */
export function claimsProperties({ type }: ReferenceFormat): boolean {
  return type === SIGNED_PROPERTIES_TYPE;
}
