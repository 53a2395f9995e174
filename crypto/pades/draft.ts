/**
 * What one incremental update is going to change, gathered before it is written: every object once, however many
 * reasons there are to change it.
 */
import {
  appendItem,
  asReference,
  firstUnusedNumber,
  isArray,
  type PdfDict,
  type PdfDocument,
  type Piece,
  type Reference,
  type RevisionObject,
  spliceDict,
} from '../pdf/index.ts';
import { CryptoError } from '../types.ts';

/** `12 0 R` */
export function referenceText({ number, generation }: Reference): string {
  return `${number} ${generation} R`;
}

export class Draft {
  readonly pdf: PdfDocument;
  readonly catalog: DictDraft;
  #next: number;
  readonly #added: RevisionObject[] = [];
  readonly #dicts = new Map<number, { readonly reference: Reference; readonly draft: DictDraft }>();
  #arrays: Map<number, ArrayDraft> | undefined;

  constructor(pdf: PdfDocument) {
    this.pdf = pdf;
    this.#next = firstUnusedNumber(pdf.xref);
    const root = asReference(pdf.xref.trailer.get('Root'));
    this.catalog = root === undefined ? new DictDraft(this, pdf.catalog) : this.dict(root, pdf.catalog);
  }

  /** A number for an object that is still to be described. */
  reserve(): Reference {
    return { number: this.#next++, generation: 0 };
  }

  /** @param reference as `reserve` gave it */
  put(reference: Reference, body: string): void {
    const { number, generation } = reference;
    this.#added.push({ number, generation, body });
  }

  /** A new object. */
  add(body: string): Reference {
    const reference = this.reserve();
    this.put(reference, body);
    return reference;
  }

  /**
   * The draft of a dictionary that is an object of its own; the same one whenever it is asked for.
   * @param written left out for a new one, whose number `reserve` gave
   */
  dict(reference: Reference, written?: PdfDict): DictDraft {
    const known = this.#dicts.get(reference.number);
    if (known !== undefined) return known.draft;
    const draft = new DictDraft(this, written);
    this.#dicts.set(reference.number, { reference, draft });
    return draft;
  }

  /** @internal For `DictDraft.append`. */
  array(reference: Reference, written: Piece): ArrayDraft {
    this.#arrays ??= new Map();
    let known = this.#arrays.get(reference.number);
    if (known === undefined) {
      known = { reference, written, items: [] };
      this.#arrays.set(reference.number, known);
    }
    return known;
  }

  /**
   * New objects in the order they were put, then the changed ones.
   * @throws {CryptoError} `pdf.malformed` when the catalogue has to change and is no object of its own, or when a
   *   dictionary that has to change is that of a stream: written again without its data, it would take what lies in it
   *   out of the document
   */
  objects(): readonly RevisionObject[] {
    const objects = this.#added.slice();
    for (const { reference, written, items } of this.#arrays?.values() ?? []) {
      objects.push({ ...reference, body: appendItem(written, items.join(' ')) });
    }
    let catalogIsObject = false;
    for (const { reference, draft } of this.#dicts.values()) {
      if (draft === this.catalog) catalogIsObject = true;
      if (!draft.changed) continue;
      const { number, generation } = reference;
      if (draft.written !== undefined && this.pdf.plainObject(number)?.data !== undefined) {
        throw new CryptoError(
          'pdf.malformed',
          `Object ${number} is a stream where a dictionary has to be, and cannot be updated.`,
        );
      }
      objects.push({ number, generation, body: draft.text() });
    }
    if (!catalogIsObject && this.catalog.changed) {
      throw new CryptoError(
        'pdf.malformed',
        'The catalogue is written into the trailer and cannot be updated.',
      );
    }
    return objects;
  }
}

interface ArrayDraft {
  readonly reference: Reference;
  readonly written: Piece;
  readonly items: string[];
}

/** A dictionary and the changes to it; every byte that is not changed stays. */
export class DictDraft {
  /** As it stands in the file; undefined for a new one. */
  readonly written: PdfDict | undefined;
  readonly #draft: Draft;
  readonly #values = new Map<string, string>();
  // Most dictionaries never need these two; every signature makes several drafts.
  #lists: Map<string, string[]> | undefined;
  #inside: Map<string, DictDraft> | undefined;

  constructor(draft: Draft, written: PdfDict | undefined) {
    this.#draft = draft;
    this.written = written;
  }

  get changed(): boolean {
    if (this.#values.size > 0 || this.#lists !== undefined) return true;
    if (this.#inside === undefined) return false;
    for (const draft of this.#inside.values()) if (draft.changed) return true;
    return false;
  }

  /** The value as it stands in the file. */
  get(key: string): Piece | undefined {
    return this.written?.get(key);
  }

  set(key: string, value: string): void {
    this.#values.set(key, value);
  }

  /** The dictionary under a key: changed in its own object when it is one, inside this one otherwise. */
  child(key: string): DictDraft {
    const value = this.get(key);
    const written = this.#draft.pdf.dict(value);
    const reference = written && asReference(value);
    if (written !== undefined && reference !== undefined) return this.#draft.dict(reference, written);
    this.#inside ??= new Map();
    let draft = this.#inside.get(key);
    if (draft === undefined) {
      draft = new DictDraft(this.#draft, written);
      this.#inside.set(key, draft);
    }
    return draft;
  }

  /** Adds to the array under a key, which is changed in its own object when it is one. */
  append(key: string, item: string): void {
    const value = this.get(key);
    const array = this.#draft.pdf.resolve(value);
    const reference = isArray(array) ? asReference(value) : undefined;
    if (reference !== undefined) this.#draft.array(reference, array).items.push(item);
    else this.appendHere(key, item);
  }

  /** Adds to the array under a key; when that is an object of its own, a copy inside this dictionary takes its place. */
  appendHere(key: string, item: string): void {
    this.#lists ??= new Map();
    const list = this.#lists.get(key);
    if (list === undefined) this.#lists.set(key, [item]);
    else list.push(item);
  }

  text(): string {
    const values = this.#values;
    for (const [key, items] of this.#lists ?? []) {
      values.set(key, appendItem(this.#draft.pdf.resolve(this.get(key)), items.join(' ')));
    }
    for (const [key, draft] of this.#inside ?? []) if (draft.changed) values.set(key, draft.text());
    if (this.written !== undefined) return spliceDict(this.written, values);
    let text = '<<';
    for (const [key, value] of values) text += `/${key} ${value}`;
    return `${text}>>`;
  }
}
