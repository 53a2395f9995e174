/** ds:Reference as written (XML Signature 1.1 §4.4.3), and the interpretation of its URI. */
import { DS } from '../elements/identifiers.ts';
import {
  assertChildren,
  attributeOf,
  base64Of,
  onlyChild,
  optionalChild,
  plainAlgorithm,
  type SignatureNode,
} from './signature-node.ts';

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
