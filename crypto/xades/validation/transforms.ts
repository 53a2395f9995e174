/**
 * Accepted transforms of a reference (XML Signature 1.1 §6.6), combined into one description: excluded elements,
 * selected element, and serialization. Transforms that select or rewrite content freely (XSLT, other XPath
 * expressions) are not followed, because nobody could be told what is signed.
 */
import { CryptoError } from '../../core/types.ts';
import { type CanonicalMethod, MAX_LISTED_PREFIXES } from '../../xml/index.ts';
import { type ElementPath, readElementPath, readElementTest } from '../elements/element-path.ts';
import { BASE64, DS, ENVELOPED, EXCLUSIVE_C14N, XPATH, XPATH_FILTER } from '../elements/identifiers.ts';
import {
  EVERY_SIGNATURE,
  MAX_EXPRESSION_LENGTH,
  NOT_IN_SIGNATURE,
  type NodeFilter,
  OWN_SIGNATURE,
  readNodeFilter,
} from '../elements/node-filter.ts';
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

/** Transforms up to the first one that gives bytes, or to the last one. */
export interface Stage {
  /** True: the signature that contains the reference is excluded. */
  readonly enveloped: boolean;
  /** True: every signature is excluded. */
  readonly withoutSignatures: boolean;
  /** Keeps nodes. */
  readonly filter: NodeFilter | undefined;
  /** Undefined: octets are unchanged, and nodes use the default canonicalization. */
  readonly output: CanonicalMethod | 'base64' | undefined;
  /** Transforms that read the canonical bytes as another document. */
  readonly next: Stage | undefined;
}

export interface Processing extends Stage {
  /** The one element selected from the whole document; undefined: the URI's target. */
  readonly element: ElementPath | undefined;
}

const MAX_TRANSFORMS = 8;

/** An unsupported transform. */
export class TransformFault extends Error {}

/** A stage, while its transforms are read. */
interface StageDraft {
  enveloped: boolean;
  withoutSignatures: boolean;
  readonly filters: NodeFilter[];
  element: ElementPath | undefined;
  output: Stage['output'];
}

/**
 * Reads ds:Transforms = Transform { @Algorithm }+.
 * @param list ds:Transforms; undefined when there is none
 * @throws {FormFault} @throws {TransformFault}
 */
export function readTransforms(list: SignatureNode | undefined): Processing {
  const transforms = list?.children ?? [];
  if (
    list !== undefined &&
    (transforms.length === 0 || transforms.some((node) => !is(node, DS, 'Transform')))
  )
    throw new FormFault('Transforms holds something else than transforms');
  if (list !== undefined && list.text.trim() !== '') throw new FormFault('Transforms holds text');
  if (transforms.length > MAX_TRANSFORMS) throw new TransformFault('there are too many of them');
  let draft = newDraft();
  const drafts = [draft];
  for (const transform of transforms) {
    const uri = requiredAttribute(transform, 'Algorithm');
    const isFilter = uri === ENVELOPED || uri === XPATH || uri === XPATH_FILTER;
    if (draft.output !== undefined) {
      // Read again, decoded bytes or the canonical form of a canonical form could be another document.
      if (!isFilter || draft.output === 'base64')
        throw new TransformFault(`${uri} follows where it is not followed`);
      draft = newDraft();
      drafts.push(draft);
    }
    const canonical = canonicalOf(uri);
    if (canonical !== undefined) draft.output = canonicalMethod(transform);
    else if (uri === BASE64) draft.output = bare(transform, 'base64');
    else if (uri === ENVELOPED) draft.enveloped = bare(transform, true);
    else if (uri === XPATH) readXPath(transform, draft);
    else if (uri === XPATH_FILTER) readFilters(transform, draft);
    else throw new TransformFault(`${uri} is not accepted`);
    if (draft.output === 'base64' && draft.filters.length > 0)
      throw new TransformFault('an XPath transform comes before Base64');
  }
  const [first = draft, ...later] = drafts;
  if (later.some(({ element }) => element !== undefined))
    throw new TransformFault('a path selects something of a canonical form');
  const next = later.reduceRight<Stage | undefined>((after, one) => stageOf(one, after), undefined);
  return { ...stageOf(first, next), element: first.element };
}

/** Lists a stage and those after it. */
export function stagesOf(stage: Stage): Stage[] {
  return stage.next === undefined ? [stage] : [stage, ...stagesOf(stage.next)];
}

/** True when something of the target can be left out. */
export function changesNodes({ enveloped, withoutSignatures, filter, next }: Stage): boolean {
  return enveloped || withoutSignatures || filter !== undefined || next !== undefined;
}

function newDraft(): StageDraft {
  return {
    enveloped: false,
    withoutSignatures: false,
    filters: [],
    element: undefined,
    output: undefined,
  };
}

function stageOf(
  { enveloped, withoutSignatures, filters, output }: StageDraft,
  next: Stage | undefined,
): Stage {
  const [one, ...more] = filters;
  const filter = more.length === 0 ? one : ({ kind: 'and', of: filters } as const);
  return { enveloped, withoutSignatures, filter, output, next };
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
  if (list.length > MAX_LISTED_PREFIXES)
    throw new TransformFault(`a PrefixList names more than ${MAX_LISTED_PREFIXES} prefixes`);
  return { ...method, prefixes: list.map((prefix) => (prefix === '#default' ? '' : prefix)) };
}

function bare<T>(transform: SignatureNode, result: T): T {
  if (transform.children.length > 0 || transform.text.trim() !== '') {
    throw new FormFault('a transform has parameters that do not belong to it');
  }
  return result;
}

/** Reads the expression of an XPath transform. */
function readXPath(transform: SignatureNode, draft: StageDraft): void {
  const [expression, ...more] = transform.children;
  if (expression === undefined || more.length > 0 || !is(expression, DS, 'XPath')) {
    throw new FormFault('an XPath transform holds something else than one expression');
  }
  if (names(expression, NOT_IN_SIGNATURE)) draft.withoutSignatures = true;
  else draft.filters.push(evaluable(() => readNodeFilter(textOf(expression).trim(), prefixesOf(expression))));
}

/**
 * Reads XPath Filter 2.0 expressions: elements, or the reference's own signature, subtracted from the whole document
 * or from the one element of a location path.
 */
function readFilters(transform: SignatureNode, draft: StageDraft): void {
  if (transform.children.length === 0 || transform.text.trim() !== '')
    throw new FormFault('an XPath filter transform holds something else than filters');
  if (transform.children.length > MAX_TRANSFORMS) throw new TransformFault('there are too many filters');
  for (const filter of transform.children) {
    const kind = is(filter, XPATH_FILTER, 'XPath') ? attributeOf(filter, 'Filter') : undefined;
    const path = SUBTRACTED.exec(textOf(filter))?.[1];
    if (kind === 'subtract' && names(filter, EVERY_SIGNATURE)) draft.withoutSignatures = true;
    else if (kind === 'subtract' && names(filter, OWN_SIGNATURE)) draft.enveloped = true;
    else if (kind === 'subtract' && path !== undefined) draft.filters.push(subtracted(path, filter));
    else if (kind === 'intersect' && draft.element === undefined) draft.element = selectedElement(filter);
    else if (kind === 'intersect') throw new TransformFault('several filters select an element');
    else
      throw new TransformFault(
        'an XPath filter does something else than leaving out elements or selecting one element',
      );
  }
}

/** Path to elements of one name wherever they are. */
const SUBTRACTED = /^\s*\/(?:\/|descendant(?:-or-self)?\s*::)([^/]+)$/;

/** Subtracting elements keeps what is not inside of one. */
function subtracted(path: string, filter: SignatureNode): NodeFilter {
  const { test, end } = evaluable(() => readElementTest(path, 0, prefixesOf(filter)));
  if (end < path.length) throw new TransformFault('an XPath filter has something that is not evaluated');
  return { kind: 'not', of: { kind: 'inside', element: test, anywhere: false } };
}

function prefixesOf(expression: SignatureNode): (prefix: string) => string {
  return (prefix) => {
    const namespace = namespaceInside(expression, prefix);
    if (namespace === undefined) throw new TransformFault(`the prefix "${prefix}" is not declared`);
    return namespace;
  };
}

function evaluable<T>(read: () => T, message = 'an XPath expression has something that is not evaluated'): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error;
    throw new TransformFault(message);
  }
}

/** Parses the path of a filter. @throws {TransformFault} for a path outside the subset that signing accepts */
function selectedElement(filter: SignatureNode): ElementPath {
  const path = textOf(filter).trim();
  const message = 'a path selects an element in another way than is followed';
  return evaluable(() => readElementPath(path, prefixesOf(filter)), message);
}

/** True when the expression matches the pattern and its prefix is bound to XML Signature. */
function names(expression: SignatureNode, shape: RegExp): boolean {
  const text = textOf(expression).trim();
  const prefix = text.length > MAX_EXPRESSION_LENGTH ? undefined : shape.exec(text)?.[1];
  return prefix !== undefined && namespaceInside(expression, prefix) === DS;
}
