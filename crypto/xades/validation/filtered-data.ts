/** Writes the canonical form of what transforms keep of a document (XML Signature 1.1 §4.4.3.2 and §6.6). */
import type { WorkBudget } from '../../core/work-budget.ts';
import {
  type ByteSink,
  type CanonicalMethod,
  canonicalize,
  type Name,
  Names,
  readElement,
  readXml,
  type Scope,
  ScopeTracker,
  type StartTag,
  type XmlListener,
} from '../../xml/index.ts';
import { isNamed, holds as testHolds } from '../elements/element-finder.ts';
import type { ChildTest, ElementTest } from '../elements/element-path.ts';
import { DS } from '../elements/identifiers.ts';
import type { NodeFilter } from '../elements/node-filter.ts';
import { type DocumentMap, outermostOf } from './document-map.ts';
import { hasPlainAttribute, pathOf } from './document-mapper.ts';
import { holds, type SignatureNode } from './signature-node.ts';
import { isBlank, isSpace, TextSplitFinder } from './text-splits.ts';
import { type Processing, type Stage, TransformFault } from './transforms.ts';

/** An element that a filter names. Offsets are bytes of the UTF-8 document. */
interface FilteredElement {
  readonly start: number;
  end: number;
  /** Scope inherited from the ancestors. */
  readonly scope: Scope | undefined;
  /** Names from the root down, as written. */
  path: string;
  readonly isRoot: boolean;
  readonly isSignature: boolean;
}

/** Evaluates filters of nodes in one reading: the elements that they leave out, or the one that they keep. */
interface FilteredNodes {
  /** The only element that is kept; undefined: all of the place. */
  readonly apex: FilteredElement | undefined;
  /** Outermost elements of apex or place that are left out, in document order. */
  readonly left: readonly FilteredElement[];
  /** Those of them that divide a text. */
  readonly inText: boolean;
  /** Nothing is kept. */
  readonly empty: boolean;
  /** All signatures of the document, in document order. */
  readonly signatures: readonly FilteredElement[];
}

interface FilteredDocument {
  readonly utf8: Buffer;
  readonly names: Names;
}

/** Limit of elements that one expression names. */
const MAX_FOUND = 10_000;

/**
 * Evaluates a filter.
 * @param place the element whose nodes are filtered; undefined: the document
 * @throws {TransformFault} when no element or range of elements is left
 */
function filterNodes(
  { utf8, names }: FilteredDocument,
  place: { readonly start: number; readonly end: number } | undefined,
  {
    filter,
    own,
    comparisons,
  }: {
    readonly filter: NodeFilter;
    /** Offset of the signature with the expression; undefined when the document has not the expression. */
    readonly own: number | undefined;
    /** Of elements and texts that may still be made. */
    readonly comparisons: WorkBudget;
  },
): FilteredNodes {
  const pass = new FilterPass(utf8, filter, own, comparisons);
  readXml(utf8, pass, names);
  const { signatures } = pass;
  const around = place ?? { start: -1, end: utf8.length };
  const found = [...pass.regions.values()].flat();
  found.sort((one, other) => one.start - other.start || other.end - one.end);
  const inside = found.filter((one) => holds(around, one) && one.start !== around.start);
  const keeps = (at: number): boolean => isKept(filter, pass, at);
  const none = { apex: undefined, left: [], inText: false, signatures };
  if (keeps(around.start)) {
    const left = leftOut(inside, keeps);
    return { ...none, left, inText: left.some(({ start }) => pass.divides(start)), empty: false };
  }
  const apex = inside.find(({ start }) => keeps(start));
  if (apex === undefined) return { ...none, empty: true };
  if (inside.some(({ start }) => start >= apex.end && keeps(start)))
    throw new TransformFault('an XPath expression keeps several elements');
  const left = leftOut(
    inside.filter((one) => holds(apex, one)),
    keeps,
  );
  return { ...none, apex, left, inText: left.some(({ start }) => pass.divides(start)), empty: false };
}

/** Selects the outermost elements that are not kept. */
function leftOut(inside: readonly FilteredElement[], keeps: (at: number) => boolean): FilteredElement[] {
  const left: FilteredElement[] = [];
  for (const one of inside) {
    const last = left.at(-1);
    if (last !== undefined && one.start < last.end) {
      if (keeps(one.start))
        throw new TransformFault('an XPath expression keeps a part of what it leaves out');
    } else if (!keeps(one.start)) left.push(one);
  }
  return left;
}

function isKept(filter: NodeFilter, pass: FilterPass, at: number): boolean {
  switch (filter.kind) {
    case 'not':
      return !isKept(filter.of, pass, at);
    case 'and':
      return filter.of.every((one) => isKept(one, pass, at));
    case 'or':
      return filter.of.some((one) => isKept(one, pass, at));
    case 'outside': {
      const [around] = pass.regions.get(filter) ?? [];
      return around !== undefined && !(around.start <= at && at < around.end);
    }
    case 'inside': {
      const regions = pass.regions.get(filter) ?? [];
      return filter.anywhere ? regions.length > 0 : contains(regions, at);
    }
  }
}

/** Searches elements in document order that are not nested. */
function contains(regions: readonly FilteredElement[], at: number): boolean {
  let low = 0;
  let high = regions.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((regions[middle] as FilteredElement).start <= at) low = middle + 1;
    else high = middle;
  }
  const before = regions[low - 1];
  return before !== undefined && at < before.end;
}

type Inside = NodeFilter & { readonly kind: 'inside' };
type Outside = NodeFilter & { readonly kind: 'outside' };

/** An element that fits, as long as its children are not known. */
interface Candidate {
  readonly filter: Inside;
  readonly unmet: Set<ChildTest>;
}

/** A child whose text is compared. */
interface Capture {
  readonly candidate: Candidate;
  readonly test: ChildTest;
  /** Undefined: too long to be equal. */
  text: string | undefined;
}

interface Frame {
  readonly element: FilteredElement;
  readonly namespace: string;
  readonly local: string;
  readonly candidates: readonly Candidate[];
  /** Number of captures that are open around the element. */
  readonly captures: number;
  readonly mayBeLeftOut: boolean;
}

/** Cost of an element that fits and of a child that is compared, in comparisons. */
const CANDIDATE = 16;

class FilterPass implements XmlListener {
  /** Elements of each test, outermost and in document order. */
  readonly regions = new Map<NodeFilter, FilteredElement[]>();
  readonly signatures: FilteredElement[] = [];
  readonly #bytes: Buffer;
  readonly #own: number | undefined;
  readonly #inside: readonly Inside[];
  readonly #outside: readonly Outside[];
  readonly #scopes: ScopeTracker;
  readonly #splits: TextSplitFinder;
  readonly #open: Frame[] = [];
  readonly #names: string[] = [];
  readonly #captures: Capture[] = [];
  readonly #comparisons: WorkBudget;
  #found = 0;

  constructor(bytes: Buffer, filter: NodeFilter, own: number | undefined, comparisons: WorkBudget) {
    this.#bytes = bytes;
    this.#own = own;
    this.#comparisons = comparisons;
    const atoms = atomsOf(filter);
    this.#inside = atoms.filter((one) => one.kind === 'inside');
    this.#outside = atoms.filter((one) => one.kind === 'outside');
    if (this.#outside.length > 0 && own === undefined)
      throw new TransformFault('here() is not in the document that it is evaluated in');
    this.#scopes = new ScopeTracker(bytes);
    this.#splits = new TextSplitFinder(bytes);
  }

  /** True for an element that has text before and after it in the same parent. */
  divides(start: number): boolean {
    const { list, more } = this.#splits.signaturesInText;
    return more || list.includes(start);
  }

  startElement(tag: StartTag): void {
    const scope = this.#scopes.current;
    this.#scopes.enter(tag);
    this.#names.push(tag.name.text);
    this.#comparisons.spend(1 + this.#inside.length);
    const isSignature = tag.namespace.uri === DS && tag.name.local === 'Signature';
    const fitting = this.#inside.filter(({ element }) => this.#fits(tag, element));
    const mayBeLeftOut = fitting.length > 0 || isSignature;
    const element: FilteredElement = {
      start: tag.start,
      end: 0,
      scope,
      path: mayBeLeftOut ? pathOf(this.#names) : '',
      isRoot: this.#open.length === 0,
      isSignature,
    };
    if (mayBeLeftOut) this.#splits.enterSignature(tag.start);
    else this.#splits.startElement();
    if (isSignature && this.signatures.push(element) > MAX_FOUND)
      throw new TransformFault('a filtered document has too many signatures');
    const captures = this.#captures.length;
    for (const candidate of this.#open.at(-1)?.candidates ?? []) {
      for (const test of candidate.unmet)
        if (isNamed(test.name, tag.namespace.uri, tag.name.local)) {
          this.#comparisons.spend(CANDIDATE);
          this.#captures.push({ candidate, test, text: '' });
        }
    }
    const candidates = fitting.map((filter) => ({ filter, unmet: new Set(childTestsOf(filter.element)) }));
    this.#comparisons.spend(CANDIDATE * candidates.length);
    const { uri: namespace } = tag.namespace;
    this.#open.push({ element, namespace, local: tag.name.local, candidates, captures, mayBeLeftOut });
    if (tag.start === this.#own) for (const filter of this.#outside) this.#placeOutside(filter);
  }

  endElement(_name: Name, _start: number, end: number): void {
    const frame = this.#open.pop();
    this.#scopes.leave();
    this.#names.pop();
    if (frame === undefined) return;
    const { element, candidates, captures, mayBeLeftOut } = frame;
    element.end = end;
    if (mayBeLeftOut) this.#splits.leaveSignature();
    else this.#splits.endElement();
    for (const { candidate, test, text } of this.#captures.splice(captures))
      if (text === test.value) candidate.unmet.delete(test);
    for (const { filter, unmet } of candidates) if (unmet.size === 0) this.#add(filter, element);
  }

  text(start: number, end: number): void {
    this.#splits.text(start, end);
    if (this.#captures.length > 0) this.#capture(end - start, () => this.#bytes.toString('utf8', start, end));
  }

  character(code: number): void {
    this.#splits.character(code);
    if (this.#captures.length > 0) this.#capture(1, () => String.fromCodePoint(code));
  }

  instruction(): void {}

  comment(): void {}

  #fits(tag: StartTag, { name, tests }: ElementTest): boolean {
    if (!isNamed(name, tag.namespace.uri, tag.name.local)) return false;
    this.#comparisons.spend(tests.length * (1 + tag.attributeCount));
    return tests.every((test) => test.of === 'child' || testHolds(this.#bytes, tag, test));
  }

  /** @param length in bytes: at most the characters of the text, times four */
  #capture(length: number, read: () => string): void {
    this.#comparisons.spend(this.#captures.length);
    let text: string | undefined;
    for (const capture of this.#captures) {
      if (capture.text === undefined) continue;
      const isTooLong = capture.text.length + length > 4 * capture.test.value.length;
      if (!isTooLong) text ??= read();
      capture.text = isTooLong ? undefined : capture.text + text;
    }
  }

  #add(filter: Inside, element: FilteredElement): void {
    if (++this.#found > MAX_FOUND) throw new TransformFault('an XPath expression names too many elements');
    const regions = this.regions.get(filter) ?? [];
    this.regions.set(filter, regions);
    // Elements inside of this one have ended before.
    while ((regions.at(-1)?.start ?? -1) > element.start) regions.pop();
    regions.push(element);
  }

  /** Finds the nearest element of the name around the expression, which stands in the signature that begins now. */
  #placeOutside(filter: Outside): void {
    const { namespace, local } = filter.name;
    if (local === undefined || namespace === undefined || (namespace === DS && local !== 'Signature'))
      throw new TransformFault('an XPath expression counts parts of the signature');
    const at = this.#open.findLastIndex((one) => one.local === local && one.namespace === namespace);
    const element = this.#open[at]?.element;
    if (element === undefined) return;
    element.path = pathOf(this.#names.slice(0, at + 1));
    this.regions.set(filter, [element]);
  }
}

function atomsOf(filter: NodeFilter): (Inside | Outside)[] {
  if (filter.kind === 'not') return atomsOf(filter.of);
  if (filter.kind === 'and' || filter.kind === 'or') return filter.of.flatMap(atomsOf);
  return [filter];
}

function childTestsOf({ tests }: ElementTest): ChildTest[] {
  return tests.filter((test) => test.of === 'child');
}

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

/** Result of writing. */
export interface WrittenData {
  /** Undefined when no filter was evaluated. */
  readonly filtered: FilteredData | undefined;
  /** Prefixes in values whose namespaces are not in what was written; '' is the default namespace. */
  readonly loosePrefixes: ReadonlySet<string>;
}

/** @throws {TransformFault} @throws {DataFault} @throws {CryptoError} errors of reading */
export function writeFiltered(request: FilteredRequest, sink: ByteSink): WrittenData {
  const { map, processing, budget } = request;
  let document: Pick<DocumentMap, 'utf8' | 'names'> = map;
  let { place } = request;
  let own: Range | undefined = request.own;
  let ownNumber = -1;
  let filtered: FilteredData | undefined;
  const loosePrefixes = new Set<string>();
  const write = (
    around: Place | undefined,
    method: CanonicalMethod,
    to: ByteSink,
    skipped: readonly Range[],
  ) => {
    for (const prefix of canonicalize(document, around, { method, sink: to, without: skipped }))
      loosePrefixes.add(prefix);
  };
  for (let stage: Stage | undefined = processing; stage !== undefined; stage = stage.next) {
    const isFirst = document === map;
    let nodes: FilteredNodes | undefined;
    if (!isFirst || stage.filter !== undefined) {
      budget.spend(document.utf8.length);
      const filter = stage.filter ?? EVERYTHING;
      nodes = filterNodes(document, place, {
        filter,
        own: isFirst ? own?.start : undefined,
        comparisons: request.comparisons,
      });
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
      filtered = joined(filtered, nodes, { stage, own, isFirst });
    }
    const skipped = left.filter(
      (one) => around === undefined || (holds(around, one) && one.start > around.start),
    );
    const asked: CanonicalMethod = typeof stage.output === 'object' ? stage.output : request.method;
    const used = isFirst && asked.comments && !request.comments ? { ...asked, comments: false } : asked;
    if (stage.next === undefined) {
      write(around, used, sink, skipped);
      break;
    }
    const parts: Buffer[] = [];
    write(around, used, { update: (bytes) => parts.push(Buffer.from(bytes)) }, skipped);
    const kept = signatures.filter(
      (one) => (around === undefined || holds(around, one)) && !skipped.some((range) => holds(range, one)),
    );
    ownNumber = kept.findIndex(({ start }) => start === own?.start);
    document = { utf8: Buffer.concat(parts), names: new Names() };
    budget.spend(document.utf8.length);
    place = undefined;
  }
  return { filtered, loosePrefixes };
}

function joined(
  before: FilteredData | undefined,
  nodes: FilteredNodes,
  {
    stage,
    own,
    isFirst,
  }: { readonly stage: Stage; readonly own: Range | undefined; readonly isFirst: boolean },
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
  else if (!isEmpty && around !== undefined)
    readElement(document.utf8, around, { listener: probe, names: document.names });
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
