/**
 * Scan of a document for signing, in the same pass as the digest: identifiers in use, the position of the element to
 * be signed, and existing signatures that a new one would break.
 */
import { CryptoError, type XadesFormat } from '../../core/types.ts';
import {
  attributeNamed,
  attributeValue,
  type Name,
  type Names,
  namesElement,
  type Scope,
  ScopeTracker,
  type StartTag,
  type XmlListener,
} from '../../xml/index.ts';
import { ID_ATTRIBUTES } from './element-finder.ts';
import { DS, XPATH_FILTER } from './identifiers.ts';
import { EVERY_SIGNATURE, MAX_EXPRESSION_LENGTH, NOT_IN_SIGNATURE } from './node-filter.ts';

/** Prefix of generated identifiers; only values of the document with this prefix are remembered. */
export const ID_PREFIX = 'xades-';

type Insertion = NonNullable<XadesFormat['insertion']>;

/** Target of the signature; the whole document unless an element is named. */
interface SurveyTarget {
  /** The element with this Id. */
  readonly elementId?: string;
  /** Offset of the element's first byte in the UTF-8 document; its Id is `elementId` if it has one. */
  readonly elementStart?: number;
  /** Offset of the element that receives the signature over the whole document. @default the root */
  readonly receiverStart?: number;
  /** Position of the signature. @default 'after' for an element below the root, 'last-child' otherwise */
  readonly insertion?: Insertion;
  /** True: the canonical form excludes every signature inside the target. @default false */
  readonly withoutSignatures?: boolean;
}

/** Position of the element to be signed: byte offsets in UTF-8. */
export interface FoundElement {
  readonly start: number;
  /** Start and end of the content between its tags; both are the offset after an empty-element tag. */
  readonly contentStart: number;
  contentEnd: number;
  /** Offset after the element and after the signatures that follow it: new ones follow later. */
  end: number;
  readonly empty: boolean;
  /** Name as written. */
  readonly name: string;
  readonly isRoot: boolean;
  /** Scope inherited from its ancestors; undefined for the root, and for an element that is not to be signed. */
  readonly scope: Scope | undefined;
}

/** An identifier of an open element. */
interface OpenId {
  readonly depth: number;
  readonly value: string;
}

export class SignatureSurvey implements XmlListener {
  readonly #bytes: Buffer;
  readonly #canonicalizer: XmlListener;
  readonly #target: SurveyTarget;
  readonly #taken = new Set<string>();
  readonly #openIds: OpenId[] = [];
  /** Identifiers of the insertion point's ancestors. */
  #coveringIds: readonly string[] | undefined;
  /** Targets of existing signatures that do not exclude all signatures. */
  readonly #covered = new Set<string>();
  readonly #excluded: ExcludedSignatures;
  #depth = 0;
  /** Depth of the outermost open ds:Signature; 0 outside. */
  #signatureDepth = 0;
  #signatures = 0;
  /** Outermost signatures that the canonical form leaves out. */
  readonly #leftOut: { readonly start: number; end: number }[] = [];
  /** Undefined when the whole document is signed. */
  readonly #scopes: ScopeTracker | undefined;
  /** Number of elements with the Id `target.elementId`. */
  #sameIds = 0;
  #element: FoundElement | undefined;
  #elementDepth = 0;
  #receiver: FoundElement | undefined;
  #receiverDepth = 0;
  /** Depth of the element while only signatures have followed it. */
  #afterDepth = 0;
  /** True while events go into the canonical form. */
  #canonical: boolean;
  #breaks: string | undefined;

  constructor(bytes: Buffer, names: Names, canonicalizer: XmlListener, target: SurveyTarget = {}) {
    this.#bytes = bytes;
    this.#canonicalizer = canonicalizer;
    this.#target = target;
    this.#excluded = new ExcludedSignatures(bytes, names);
    this.#canonical = this.#isWhole;
    if (!this.#isWhole) this.#scopes = new ScopeTracker(bytes);
  }

  get #isWhole(): boolean {
    return this.#target.elementId === undefined && this.#target.elementStart === undefined;
  }

  /** Reason why the new signature would make an existing one invalid; undefined when it would not. */
  get broken(): string | undefined {
    if (this.#breaks !== undefined) return this.#breaks;
    for (const uri of this.#covered) {
      if (uri === '' || uri === '#xpointer(/)') {
        return 'the document holds a signature over all of it, which a new one would make invalid';
      }
      const id = idOf(uri);
      if (id !== undefined && this.#coveringIds?.includes(id) === true) {
        return `the new signature would stand inside of the element "${id}", which another one is over`;
      }
    }
    return undefined;
  }

  /** Number of signatures in the document. */
  get signatures(): number {
    return this.#signatures;
  }

  /** Signatures that the canonical form leaves out, in document order and not nested. */
  get leftOut(): readonly { readonly start: number; readonly end: number }[] {
    return this.#leftOut;
  }

  /** The element of `target`; undefined until it occurs. */
  get element(): FoundElement | undefined {
    return this.#element;
  }

  /** The element at `target.receiverStart`. */
  get receiver(): FoundElement | undefined {
    return this.#receiver;
  }

  /** True when no identifier of the document begins with `id`. */
  isFree(id: string): boolean {
    for (const taken of this.#taken) if (taken.startsWith(id)) return false;
    return true;
  }

  /** True when no other element has the Id `target.elementId`, in any namespace. */
  get idIsUnique(): boolean {
    return this.#sameIds === 1;
  }

  startElement(tag: StartTag): void {
    this.#depth++;
    const scope = this.#scopes?.current;
    this.#scopes?.enter(tag);
    const { elementId, elementStart } = this.#target;
    let isTarget = tag.start === elementStart;
    let hasId = false;
    for (let index = 0; index < tag.attributeCount; index++) {
      const attribute = tag.attributes[index];
      if (attribute === undefined || !namesElement(attribute)) continue;
      const value = attributeValue(this.#bytes, attribute);
      if (value.startsWith(ID_PREFIX)) this.#taken.add(value);
      this.#openIds.push({ depth: this.#depth, value });
      if (value !== elementId) continue;
      if (ID_ATTRIBUTES.has(attribute.name.local)) hasId = true;
      if (elementStart === undefined && ID_ATTRIBUTES.has(attribute.name.text)) isTarget = true;
    }
    if (hasId) this.#sameIds++;
    if (this.#depth === 1) this.#coveringIds = this.#openIds.map(({ value }) => value);
    if (this.#depth === this.#afterDepth && !isSignature(tag.name)) this.#afterDepth = 0;
    if (isTarget) this.#startTarget(tag, scope);
    if (tag.start === this.#target.receiverStart) {
      this.#receiver = this.#found(tag, scope);
      this.#receiverDepth = this.#depth;
      this.#coveringIds = this.#openIds.map(idValue);
    }
    if (tag.namespace.uri === DS) this.#startSignaturePart(tag);
    else if (tag.namespace.uri === XPATH_FILTER && tag.name.local === 'XPath')
      this.#excluded.startFilter(tag);
    if (this.#canonical) this.#canonicalizer.startElement(tag);
  }

  endElement(name: Name, start: number, end: number, plain: boolean): void {
    if (this.#canonical) this.#canonicalizer.endElement(name, start, end, plain);
    if (this.#signatureDepth > 0) this.#endSignaturePart(name, end);
    if (this.#depth === this.#elementDepth) {
      if (this.#element !== undefined) this.#element.contentEnd = start;
      this.#elementDepth = 0;
      this.#afterDepth = this.#depth;
      this.#canonical = false;
    }
    if (this.#depth === this.#receiverDepth && this.#receiver !== undefined) {
      this.#receiver.contentEnd = start;
      this.#receiver.end = end;
      this.#receiverDepth = 0;
    }
    if (this.#depth === this.#afterDepth && this.#element !== undefined) this.#element.end = end;
    else if (this.#depth < this.#afterDepth) this.#afterDepth = 0;
    while (this.#openIds.length > 0 && this.#openIds.at(-1)?.depth === this.#depth) this.#openIds.pop();
    this.#scopes?.leave();
    this.#depth--;
  }

  text(start: number, end: number): void {
    if (this.#canonical) this.#canonicalizer.text(start, end);
    if (this.#signatureDepth > 0) this.#excluded.text(start, end);
  }

  character(code: number): void {
    if (this.#canonical) this.#canonicalizer.character(code);
    if (this.#signatureDepth > 0) this.#excluded.character(code);
  }

  instruction(target: Name, dataStart: number, dataEnd: number): void {
    if (this.#canonical) this.#canonicalizer.instruction(target, dataStart, dataEnd);
  }

  comment(): void {}

  #startTarget(tag: StartTag, scope: Scope | undefined): void {
    const { elementId, insertion } = this.#target;
    if (this.#element !== undefined) {
      throw new CryptoError('request.invalid', `Several elements have the Id "${elementId}".`);
    }
    this.#element = this.#found(tag, scope);
    const { isRoot } = this.#element;
    this.#elementDepth = this.#depth;
    this.#canonical = true;
    // The signature is placed in the element or in its parent.
    const inside = insertion === undefined ? isRoot : insertion.endsWith('child');
    this.#coveringIds = this.#openIds.filter(({ depth }) => inside || depth < this.#depth).map(idValue);
    if (this.#signatureDepth > 0) this.#breaks = 'it is a part of a signature';
  }

  #found({ start, end, empty, name }: StartTag, scope: Scope | undefined): FoundElement {
    return {
      start,
      contentStart: end,
      contentEnd: end,
      end,
      empty,
      name: name.text,
      isRoot: this.#depth === 1,
      scope,
    };
  }

  #startSignaturePart(tag: StartTag): void {
    const { local } = tag.name;
    if (local === 'Signature') {
      this.#signatures++;
      if (this.#depth === 1 && this.#canonical)
        this.#breaks = 'the root element is itself a signature, which cannot hold another one';
      if (this.#signatureDepth > 0) return;
      this.#signatureDepth = this.#depth;
      if (this.#target.withoutSignatures === true && this.#canonical) {
        this.#canonical = false;
        this.#leftOut.push({ start: tag.start, end: 0 });
      }
    } else if (this.#signatureDepth > 0) {
      if (local === 'Reference') this.#excluded.startReference(attributeNamed(this.#bytes, tag, 'URI'));
      else if (local === 'XPath') this.#excluded.startXPath();
    }
  }

  #endSignaturePart(name: Name, end: number): void {
    if (name.local === 'XPath') this.#excluded.endExpression();
    else if (name.local === 'Reference' && name.prefix.namespace?.uri === DS) {
      const uri = this.#excluded.endReference();
      if (uri !== undefined) this.#covered.add(uri);
    }
    if (this.#depth !== this.#signatureDepth) return;
    this.#signatureDepth = 0;
    if (this.#target.withoutSignatures !== true) return;
    const last = this.#leftOut.at(-1);
    if (last?.end === 0) last.end = end;
    this.#canonical = this.#isWhole || this.#elementDepth > 0;
  }
}

function isSignature({ local, prefix }: Name): boolean {
  return local === 'Signature' && prefix.namespace?.uri === DS;
}

function idValue({ value }: OpenId): string {
  return value;
}

/** Returns the identifier in a reference to an element of the same document. */
function idOf(uri: string): string | undefined {
  const pointer = /^#xpointer\(id\((["'])(.*)\1\)\)$/.exec(uri);
  return pointer?.[2] ?? (uri.startsWith('#') ? uri.slice(1) : undefined);
}

/**
 * Detects references that exclude every signature, by the XPath transform or by the filter that subtracts them all.
 * Further signatures do not break such a signature.
 */
class ExcludedSignatures {
  readonly #bytes: Buffer;
  readonly #names: Names;
  /** Set while inside a ds:Reference. */
  #reference: { readonly uri: string | undefined; excludesSignatures: boolean } | undefined;
  /** Set while inside an XPath expression of a transform. */
  #expression: { text: string; readonly subtracts: boolean } | undefined;

  constructor(bytes: Buffer, names: Names) {
    this.#bytes = bytes;
    this.#names = names;
  }

  startReference(uri: string | undefined): void {
    this.#reference = { uri, excludesSignatures: false };
  }

  startXPath(): void {
    if (this.#reference !== undefined) this.#expression = { text: '', subtracts: false };
  }

  startFilter(tag: StartTag): void {
    if (this.#reference === undefined) return;
    const filter = attributeNamed(this.#bytes, tag, 'Filter');
    this.#expression = { text: '', subtracts: filter === 'subtract' };
  }

  text(start: number, end: number): void {
    const expression = this.#expression;
    if (expression === undefined || expression.text.length > MAX_EXPRESSION_LENGTH) return;
    expression.text += this.#bytes.toString('utf8', start, Math.min(end, start + MAX_EXPRESSION_LENGTH + 1));
  }

  character(code: number): void {
    const expression = this.#expression;
    if (expression === undefined || expression.text.length > MAX_EXPRESSION_LENGTH) return;
    expression.text += String.fromCodePoint(code);
  }

  /** Evaluates the expression; call it while the namespace bindings of the XPath element are in scope. */
  endExpression(): void {
    const expression = this.#expression;
    this.#expression = undefined;
    if (expression === undefined || expression.text.length > MAX_EXPRESSION_LENGTH) return;
    const shape = expression.subtracts ? EVERY_SIGNATURE : NOT_IN_SIGNATURE;
    const prefix = shape.exec(expression.text.trim())?.[1];
    if (prefix === undefined || this.#names.prefix(prefix)?.namespace?.uri !== DS) return;
    if (this.#reference !== undefined) this.#reference.excludesSignatures = true;
  }

  /** Returns the covered identifier; undefined when the reference excludes all signatures or has no URI. */
  endReference(): string | undefined {
    const reference = this.#reference;
    this.#reference = undefined;
    return reference?.excludesSignatures === true ? undefined : reference?.uri;
  }
}
