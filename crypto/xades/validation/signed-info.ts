/** Parsed ds:Signature (XML Signature 1.1 §4); nothing is computed here. */

import { type Certificate, readableCertificates } from '../../x509/certificate.ts';
import type { CanonicalMethod } from '../../xml/index.ts';
import { DS, OLDER_XADES, SIGNED_PROPERTIES_TYPE } from '../elements/identifiers.ts';
import { type QualifyingProperties, readQualifyingProperties } from './qualifying-properties.ts';
import {
  assertChildren,
  attributeOf,
  base64Of,
  childrenNamed,
  FormFault,
  onlyChild,
  optionalChild,
  plainAlgorithm,
  requiredAttribute,
  type SignatureNode,
  UnsupportedFault,
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
    throw new UnsupportedFault(`SignedInfo has more than ${MAX_REFERENCES} references`);
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
    if (error instanceof TransformFault) throw new UnsupportedFault(`for SignedInfo, ${error.message}`);
    throw error;
  }
}

/** True for a reference whose type is SignedProperties, as the version of the properties spells it. */
export function claimsProperties({ type }: ReferenceFormat): boolean {
  if (type === SIGNED_PROPERTIES_TYPE) return true;
  return type?.endsWith('SignedProperties') === true && OLDER_XADES.has(type.slice(0, -16));
}

/** ds:Reference as written (XML Signature 1.1 §4.4.3), and the interpretation of its URI. */
export interface ReferenceFormat {
  readonly node: SignatureNode;
  readonly id: string | undefined;
  /** Undefined: the reference has no URI, and the caller must know its data. */
  readonly uri: string | undefined;
  readonly type: string | undefined;
  /** ds:Transforms, not examined yet. */
  readonly transforms: SignatureNode | undefined;
  /** URI of the hash function. */
  readonly digestMethod: string;
  readonly digest: Buffer;
}

/** Reads ds:Reference = Transforms?, DigestMethod, DigestValue, @Id?, @URI?, @Type?. @throws {FormFault} */
export function readReference(node: SignatureNode): ReferenceFormat {
  assertChildren(node, DS, 'Transforms?', 'DigestMethod', 'DigestValue');
  return {
    node,
    id: attributeOf(node, 'Id'),
    uri: attributeOf(node, 'URI'),
    type: attributeOf(node, 'Type'),
    transforms: optionalChild(node, DS, 'Transforms'),
    digestMethod: plainAlgorithm(onlyChild(node, DS, 'DigestMethod')),
    digest: base64Of(onlyChild(node, DS, 'DigestValue')),
  };
}

/** Target of a URI. A same-document reference without XPointer excludes comments (§4.4.3.3). */
export type Target =
  | { readonly kind: 'document'; readonly comments: boolean }
  | { readonly kind: 'element'; readonly id: string; readonly comments: boolean }
  | { readonly kind: 'outside'; readonly uri: string | undefined }
  /** A fragment of an unsupported form. */
  | { readonly kind: 'unknown' };

export function targetOf(uri: string | undefined): Target {
  if (uri === undefined || !/^(#|$)/.test(uri)) return { kind: 'outside', uri };
  if (uri === '') return { kind: 'document', comments: false };
  if (uri === '#xpointer(/)') return { kind: 'document', comments: true };
  const pointed = /^#xpointer\(id\((["'])([^"']+)\1\)\)$/.exec(uri)?.[2];
  if (pointed !== undefined) return { kind: 'element', id: pointed, comments: true };
  const id = uri.slice(1);
  return id === '' || id.includes('(') ? { kind: 'unknown' } : { kind: 'element', id, comments: false };
}

/** Certificates in ds:KeyInfo (XML Signature 1.1 §4.5.4). All other content names a key without its owner. */
export interface KeyInfo {
  readonly certificates: readonly Certificate[];
  /** DER of ds:X509CRL. */
  readonly crls: readonly Buffer[];
  /** True when some content is not readable. */
  readonly unreadable: boolean;
  /** True when it contains a bare key. */
  readonly keyValue: boolean;
}

/**
 * Reads ds:KeyInfo = (X509Data { X509Certificate | X509CRL | … }+ | KeyValue | …)+. Never throws; ignores unreadable
 * content.
 */
export function readKeyInfo(keyInfo: SignatureNode | undefined): KeyInfo {
  const data = childrenNamed(keyInfo, DS, 'X509Data');
  const written = data.flatMap((one) => childrenNamed(one, DS, 'X509Certificate'));
  const certificates = written.flatMap((node) => readableBase64(node).flatMap(readableCertificates));
  return {
    certificates,
    crls: data.flatMap((one) => childrenNamed(one, DS, 'X509CRL')).flatMap(readableBase64),
    unreadable: certificates.length < written.length,
    keyValue: childrenNamed(keyInfo, DS, 'KeyValue').length > 0,
  };
}

/** Decodes the Base64 of an element; empty when it is not Base64. */
export function readableBase64(node: SignatureNode): Buffer[] {
  try {
    return [base64Of(node)];
  } catch (error) {
    if (error instanceof FormFault) return [];
    throw error;
  }
}
