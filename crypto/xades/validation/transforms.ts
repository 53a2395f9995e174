/**
 * The transforms of a reference that are accepted (XML Signature 1.1 §6.6), as one description of what becomes of the
 * data: which signatures are left out, and how the rest becomes bytes. Whatever could select or rewrite content freely
 * (XSLT, XPath of any other shape) is refused, since then nobody can say what was signed.
 */
import type { CanonicalMethod } from '../../xml/index.ts';
import { BASE64, DS, ENVELOPED, EXCLUSIVE_C14N, XPATH, XPATH_FILTER } from '../identifiers.ts';
import {
  EVERY_SIGNATURE,
  MAX_EXPRESSION_LENGTH,
  NOT_IN_A_SIGNATURE,
  OWN_SIGNATURE,
} from '../left-out-signatures.ts';
import { canonicalOf } from './algorithms.ts';
import {
  attributeOf,
  FormFault,
  is,
  namespaceInside,
  requiredAttribute,
  type SignatureNode,
  textOf,
} from './signature-node.ts';

export interface Processing {
  /** The signature the reference stands in is left out. */
  readonly enveloped: boolean;
  /** Every signature is left out. */
  readonly withoutSignatures: boolean;
  /** Undefined: the data as they are; nodes by the default canonicalization. */
  readonly output: CanonicalMethod | 'base64' | undefined;
}

const MAX_TRANSFORMS = 8;

/** A transform that is not on the list. */
export class TransformFault extends Error {}

/**
 * @param list ds:Transforms; undefined when there is none
 * @throws {FormFault} @throws {TransformFault}
 */
export function readTransforms(list: SignatureNode | undefined): Processing {
  let enveloped = false;
  let withoutSignatures = false;
  let output: Processing['output'];
  const transforms = list?.children ?? [];
  if (
    list !== undefined &&
    (transforms.length === 0 || transforms.some((node) => !is(node, DS, 'Transform')))
  )
    throw new FormFault('Transforms holds something else than transforms');
  if (list !== undefined && list.text.trim() !== '') throw new FormFault('Transforms holds text');
  if (transforms.length > MAX_TRANSFORMS) throw new TransformFault('there are too many of them');
  for (const transform of transforms) {
    const uri = requiredAttribute(transform, 'Algorithm');
    // After canonicalization or Base64 there are bytes; reading them again could give another document.
    if (output !== undefined) throw new TransformFault(`${uri} follows where nothing may follow`);
    const canonical = canonicalOf(uri);
    if (canonical !== undefined) output = canonicalMethod(transform);
    else if (uri === BASE64) output = bare(transform, 'base64');
    else if (uri === ENVELOPED) enveloped = bare(transform, true);
    else if (uri === XPATH || uri === XPATH_FILTER) {
      const left = uri === XPATH ? leftOutByXPath(transform) : leftOutByFilters(transform);
      if (left === 'all') withoutSignatures = true;
      else enveloped = true;
    } else throw new TransformFault(`${uri} is not accepted`);
  }
  return { enveloped, withoutSignatures, output };
}

/**
 * The method of a Transform or CanonicalizationMethod.
 * @throws {FormFault} @throws {TransformFault} for another method
 */
export function canonicalMethod(node: SignatureNode): CanonicalMethod {
  const uri = requiredAttribute(node, 'Algorithm');
  const method = canonicalOf(uri);
  if (method === undefined) throw new TransformFault(`${uri} is not a canonicalization that is accepted`);
  if (node.text.trim() !== '') throw new FormFault(`${node.local} holds text`);
  const [parameters, ...more] = node.children;
  if (parameters === undefined) return { ...method, prefixes: [] };
  if (
    more.length > 0 ||
    method.kind !== 'exclusive' ||
    !is(parameters, EXCLUSIVE_C14N, 'InclusiveNamespaces')
  ) {
    throw new FormFault(`${node.local} has parameters that do not belong to its method`);
  }
  const list = (attributeOf(parameters, 'PrefixList') ?? '').split(/\s+/).filter((prefix) => prefix !== '');
  return { ...method, prefixes: list.map((prefix) => (prefix === '#default' ? '' : prefix)) };
}

function bare<T>(transform: SignatureNode, result: T): T {
  if (transform.children.length > 0 || transform.text.trim() !== '') {
    throw new FormFault('a transform has parameters that do not belong to it');
  }
  return result;
}

/** `not(ancestor-or-self::ds:Signature)` */
function leftOutByXPath(transform: SignatureNode): 'all' {
  const [expression, ...more] = transform.children;
  if (expression === undefined || more.length > 0 || !is(expression, DS, 'XPath')) {
    throw new FormFault('an XPath transform holds something else than one expression');
  }
  if (!names(expression, NOT_IN_A_SIGNATURE)) {
    throw new TransformFault('an XPath expression does something else than leaving out all signatures');
  }
  return 'all';
}

/** XPath Filter 2.0: all signatures subtracted, or the one the reference stands in. */
function leftOutByFilters(transform: SignatureNode): 'all' | 'own' {
  const [filter, ...more] = transform.children;
  if (filter === undefined || more.length > 0 || !is(filter, XPATH_FILTER, 'XPath')) {
    throw new TransformFault('an XPath filter does something else than leaving out signatures');
  }
  if (attributeOf(filter, 'Filter') === 'subtract') {
    if (names(filter, EVERY_SIGNATURE)) return 'all';
    if (names(filter, OWN_SIGNATURE)) return 'own';
  }
  throw new TransformFault('an XPath filter does something else than leaving out signatures');
}

/** True when the expression has the shape, and its prefix stands for XML Signature there. */
function names(expression: SignatureNode, shape: RegExp): boolean {
  const text = textOf(expression).trim();
  const prefix = text.length > MAX_EXPRESSION_LENGTH ? undefined : shape.exec(text)?.[1];
  return prefix !== undefined && namespaceInside(expression, prefix) === DS;
}
