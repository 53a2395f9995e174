/**
 * Accepted transforms of a reference (XML Signature 1.1 §6.6), combined into one description: excluded signatures,
 * selected element, and serialization. Transforms that select or rewrite content freely (XSLT, other XPath
 * expressions) are refused, because the signed content could not be determined.
 */
import { CryptoError } from '../../core/types.ts';
import type { CanonicalMethod } from '../../xml/index.ts';
import {
  EVERY_SIGNATURE,
  MAX_EXPRESSION_LENGTH,
  NOT_IN_SIGNATURE,
  OWN_SIGNATURE,
} from '../elements/counter-signature-exclusion.ts';
import { type ElementPath, readElementPath } from '../elements/element-path.ts';
import { BASE64, DS, ENVELOPED, EXCLUSIVE_C14N, XPATH, XPATH_FILTER } from '../elements/identifiers.ts';
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
  /** True: the signature that contains the reference is excluded. */
  readonly enveloped: boolean;
  /** True: every signature is excluded. */
  readonly withoutSignatures: boolean;
  /** The one element selected from the whole document; undefined: the URI's target. */
  readonly element: ElementPath | undefined;
  /** Undefined: octets are unchanged, and nodes use the default canonicalization. */
  readonly output: CanonicalMethod | 'base64' | undefined;
}

const MAX_TRANSFORMS = 8;

/** An unsupported transform. */
export class TransformFault extends Error {}

/**
 * Reads ds:Transforms = Transform { @Algorithm }+.
 * @param list ds:Transforms; undefined when there is none
 * @throws {FormFault} @throws {TransformFault}
 */
export function readTransforms(list: SignatureNode | undefined): Processing {
  let enveloped = false;
  let withoutSignatures = false;
  let element: Processing['element'];
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
    // The output of canonicalization and Base64 is octets; parsing them again could give another document.
    if (output !== undefined) throw new TransformFault(`${uri} follows where nothing may follow`);
    const canonical = canonicalOf(uri);
    if (canonical !== undefined) output = canonicalMethod(transform);
    else if (uri === BASE64) output = bare(transform, 'base64');
    else if (uri === ENVELOPED) enveloped = bare(transform, true);
    else if (uri === XPATH) withoutSignatures = leftOutByXPath(transform);
    else if (uri === XPATH_FILTER) {
      const filtered = readFilters(transform);
      withoutSignatures ||= filtered.withoutSignatures;
      enveloped ||= filtered.enveloped;
      if (element !== undefined && filtered.element !== undefined)
        throw new TransformFault('several filters select an element');
      element ??= filtered.element;
    } else throw new TransformFault(`${uri} is not accepted`);
  }
  return { enveloped, withoutSignatures, element, output };
}

/**
 * Reads the method of a Transform or CanonicalizationMethod.
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

/** Checks for the expression `not(ancestor-or-self::ds:Signature)`. */
function leftOutByXPath(transform: SignatureNode): true {
  const [expression, ...more] = transform.children;
  if (expression === undefined || more.length > 0 || !is(expression, DS, 'XPath')) {
    throw new FormFault('an XPath transform holds something else than one expression');
  }
  if (!names(expression, NOT_IN_SIGNATURE)) {
    throw new TransformFault('an XPath expression does something else than leaving out all signatures');
  }
  return true;
}

/**
 * Reads XPath Filter 2.0 expressions: all signatures, or the reference's own, subtracted from the whole document or
 * from the one element of a location path.
 */
function readFilters(transform: SignatureNode): Omit<Processing, 'output'> {
  let enveloped = false;
  let withoutSignatures = false;
  let element: Processing['element'];
  if (transform.children.length === 0 || transform.text.trim() !== '')
    throw new FormFault('an XPath filter transform holds something else than filters');
  if (transform.children.length > MAX_TRANSFORMS) throw new TransformFault('there are too many filters');
  for (const filter of transform.children) {
    const kind = is(filter, XPATH_FILTER, 'XPath') ? attributeOf(filter, 'Filter') : undefined;
    if (kind === 'subtract' && names(filter, EVERY_SIGNATURE)) withoutSignatures = true;
    else if (kind === 'subtract' && names(filter, OWN_SIGNATURE)) enveloped = true;
    else if (kind === 'intersect' && element === undefined) element = selectedElement(filter);
    else
      throw new TransformFault(
        'an XPath filter does something else than leaving out signatures or selecting one element',
      );
  }
  return { enveloped, withoutSignatures, element };
}

/** Parses the path of a filter. @throws {TransformFault} for a path outside the subset that signing accepts */
function selectedElement(filter: SignatureNode): ElementPath {
  try {
    return readElementPath(textOf(filter).trim(), (prefix) => {
      const namespace = namespaceInside(filter, prefix);
      if (namespace === undefined) throw new TransformFault(`the prefix "${prefix}" is not declared`);
      return namespace;
    });
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error;
    throw new TransformFault('a path selects an element in another way than is followed');
  }
}

/** True when the expression matches the pattern and its prefix is bound to XML Signature. */
function names(expression: SignatureNode, shape: RegExp): boolean {
  const text = textOf(expression).trim();
  const prefix = text.length > MAX_EXPRESSION_LENGTH ? undefined : shape.exec(text)?.[1];
  return prefix !== undefined && namespaceInside(expression, prefix) === DS;
}
