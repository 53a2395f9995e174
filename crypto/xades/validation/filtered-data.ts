/** Writes the canonical form of what transforms keep of a document (XML Signature 1.1 §4.4.3.2 and §6.6). */
import type { WorkBudget } from '../../core/work-budget.ts';
import {
  type ByteSink,
  type CanonicalMethod,
  canonicalize,
  Names,
  readElement,
  readXml,
  type Scope,
  type StartTag,
  type XmlListener,
} from '../../xml/index.ts';
import { DS } from '../elements/identifiers.ts';
import { type DocumentMap, outermostOf } from './document-map.ts';
import { hasPlainAttribute } from './document-mapper.ts';
import { type FilteredElement, type FilteredNodes, filterNodes } from './filtered-elements.ts';
import { holds, type SignatureNode } from './signature-node.ts';
import { isBlank, isSpace } from './text-splits.ts';
import { type Processing, type Stage, TransformFault } from './transforms.ts';

/** Result of the filters among the transforms of a reference. */
export interface FilteredData {
  /** The only element that was kept, in the document. */
  readonly apex: FilteredElement | undefined;
  /** The only element that was kept of a canonical form. Offsets there are none of the document. */
  readonly later: { readonly path: string; readonly isInOwn: boolean } | undefined;
  /** Paths of the elements that were left out, except signatures. */
  readonly left: readonly string[];
  /** Some of them have text before and after them in one element. */
  readonly inText: boolean;
  /** Other signatures than that of the reference were left out. */
  readonly otherSignatures: boolean;
  /** The own signature is to be left out of a canonical form, which not all programs do. */
  readonly isLate: boolean;
}

interface Place {
  readonly start: number;
  readonly end: number;
  readonly scope: Scope | undefined;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

interface FilteredRequest {
  readonly map: DocumentMap;
  /** Undefined: the document. */
  readonly place: Place | undefined;
  readonly processing: Processing;
  /** The signature with the reference. */
  readonly own: SignatureNode;
  /** False: the URI leaves comments out. */
  readonly comments: boolean;
  /** Canonicalization where no transform names one. */
  readonly method: CanonicalMethod;
  /** Bytes that may still be read. */
  readonly budget: WorkBudget;
  /** Comparisons that filters may still make. */
  readonly comparisons: WorkBudget;
}

/** Keeps every node. */
const EVERYTHING = { kind: 'and', of: [] } as const;

/**
 * @returns undefined when no filter was evaluated
 * @throws {TransformFault} @throws {DataFault} @throws {CryptoError} errors of reading
 */
export function writeFiltered(request: FilteredRequest, sink: ByteSink): FilteredData | undefined {
  const { map, processing, budget } = request;
  let document: Pick<DocumentMap, 'utf8' | 'names'> = map;
  let { place } = request;
  let own: Range | undefined = request.own;
  let ownNumber = -1;
  let filtered: FilteredData | undefined;
  for (let stage: Stage | undefined = processing; stage !== undefined; stage = stage.next) {
    const isFirst = document === map;
    let nodes: FilteredNodes | undefined;
    if (!isFirst || stage.filter !== undefined) {
      budget.spend(document.utf8.length);
      const filter = stage.filter ?? EVERYTHING;
      nodes = filterNodes(document, place, filter, isFirst ? own?.start : undefined, request.comparisons);
    }
    const signatures: readonly Range[] = isFirst ? map.signatures : (nodes?.signatures ?? []);
    if (!isFirst) own = signatures[ownNumber];
    const around = nodes?.apex ?? place;
    const left = outermostOf(
      [
        ...(nodes?.left ?? []),
        ...(stage.withoutSignatures ? signatures : []),
        ...(stage.enveloped && own !== undefined ? [own] : []),
      ].toSorted((one, other) => one.start - other.start),
    );
    if (nodes !== undefined) {
      assertContent(document, around, left, nodes.empty);
      filtered = joined(filtered, nodes, stage, own, isFirst);
    }
    const skipped = left.filter(
      (one) => around === undefined || (holds(around, one) && one.start > around.start),
    );
    const asked: CanonicalMethod = typeof stage.output === 'object' ? stage.output : request.method;
    const used = isFirst && asked.comments && !request.comments ? { ...asked, comments: false } : asked;
    if (stage.next === undefined) {
      canonicalize(document, around, used, sink, skipped);
      break;
    }
    const parts: Buffer[] = [];
    canonicalize(document, around, used, { update: (bytes) => parts.push(Buffer.from(bytes)) }, skipped);
    const kept = signatures.filter(
      (one) => (around === undefined || holds(around, one)) && !skipped.some((range) => holds(range, one)),
    );
    ownNumber = kept.findIndex(({ start }) => start === own?.start);
    document = { utf8: Buffer.concat(parts), names: new Names() };
    budget.spend(document.utf8.length);
    place = undefined;
  }
  return filtered;
}

function joined(
  before: FilteredData | undefined,
  nodes: FilteredNodes,
  stage: Stage,
  own: Range | undefined,
  isFirst: boolean,
): FilteredData {
  const isOther = ({ start }: Range): boolean => start !== own?.start;
  const left = nodes.left.filter(({ isSignature }) => !isSignature);
  const others = stage.withoutSignatures ? nodes.signatures : nodes.left.filter((one) => one.isSignature);
  const { apex } = nodes;
  const isInner = !isFirst && apex !== undefined && !apex.isRoot;
  const isInOwn = apex !== undefined && own !== undefined && holds(own, apex);
  return {
    apex: isFirst ? apex : before?.apex,
    later: isInner ? { path: apex.path, isInOwn: isInOwn || before?.later?.isInOwn === true } : before?.later,
    left: [...new Set([...(before?.left ?? []), ...left.map(({ path }) => path)])],
    inText: nodes.inText || before?.inText === true,
    otherSignatures: others.some(isOther) || before?.otherSignatures === true,
    isLate: (!isFirst && stage.enveloped && !stage.withoutSignatures) || before?.isLate === true,
  };
}

/**
 * Checks that something is left that a reader could rely on: text, or an attribute that identifies nothing, outside of
 * signatures.
 * @throws {TransformFault}
 */
function assertContent(
  document: Pick<DocumentMap, 'utf8' | 'names'>,
  around: Place | undefined,
  left: readonly Range[],
  isEmpty: boolean,
): void {
  const probe = new ContentProbe(document.utf8, left);
  if (!isEmpty && around === undefined) readXml(document.utf8, probe, document.names);
  else if (!isEmpty && around !== undefined) readElement(document.utf8, around, probe, document.names);
  if (!probe.hasContent) throw new TransformFault('the filters leave no content');
}

class ContentProbe implements XmlListener {
  hasContent = false;
  readonly #bytes: Buffer;
  readonly #left: readonly Range[];
  #next = 0;
  /** Open elements inside of a signature or of what is left out. */
  #outside = 0;

  constructor(bytes: Buffer, left: readonly Range[]) {
    this.#bytes = bytes;
    this.#left = left;
  }

  startElement(tag: StartTag): void {
    while ((this.#left[this.#next]?.end ?? Number.POSITIVE_INFINITY) <= tag.start) this.#next++;
    const range = this.#left[this.#next];
    const isLeft = range !== undefined && range.start <= tag.start;
    const isSignature = tag.namespace.uri === DS && tag.name.local === 'Signature';
    if (this.#outside > 0 || isLeft || isSignature) this.#outside++;
    else if (hasPlainAttribute(tag)) this.hasContent = true;
  }

  endElement(): void {
    if (this.#outside > 0) this.#outside--;
  }

  text(start: number, end: number): void {
    if (this.#outside === 0 && !this.hasContent) this.hasContent = !isBlank(this.#bytes, start, end);
  }

  character(code: number): void {
    if (this.#outside === 0 && !isSpace(code)) this.hasContent = true;
  }

  instruction(): void {}

  comment(): void {}
}
