/**
 * Copies objects of one PDF into another with all objects they refer to: renumbers, decrypts, and redirects
 * links between pages to the copies.
 */
import { CryptoError } from '../../core/types.ts';
import type { PdfDocument } from '../document/document.ts';
import type { ByteSource } from '../syntax/objects.ts';
import { PdfSyntaxError } from '../syntax/reading-errors.ts';
import { asString } from '../syntax/strings.ts';
import {
  asInteger,
  asName,
  asReference,
  type ByteSlice,
  isArray,
  isNull,
  items,
  type Reference,
} from '../syntax/values.ts';
import { referenceText } from '../update/incremental-update.ts';
import { type DictChange, type RewrittenEntry, rewriteValue } from '../update/rewrite.ts';
import type { NewPdf } from './new-pdf.ts';

/** Streams longer than this, in bytes, are copied in chunks, unless they have to be decrypted. */
const CHUNKED_COPY_BYTES = 8 << 20;
const CHUNK_BYTES = 1 << 20;

export class Importer {
  readonly pdf: PdfDocument;
  readonly #source: ByteSource;
  readonly #out: NewPdf;
  readonly #copies = new Map<number, Reference>();
  /** Objects that are not copied. */
  readonly #remaining = new Set<number>();
  readonly #changes = new Map<number, DictChange>();
  readonly #destinations: NamedDestinations;
  /** Copies of the pages, in order. */
  readonly #pages: Reference[] = [];
  readonly #queue: number[] = [];
  /** Bytes that may still be rewritten: attributes that pages inherit are written once for each page. */
  #work: number;

  constructor(pdf: PdfDocument, source: ByteSource, out: NewPdf) {
    this.pdf = pdf;
    this.#source = source;
    this.#out = out;
    this.#destinations = new NamedDestinations(pdf);
    this.#work = 8 * source.size + (64 << 20);
  }

  /** Reserves the copy of a page, which the caller writes. A page that is shown twice maps to its first copy. */
  announcePage(page: Reference): Reference {
    const copy = this.#out.reserve();
    if (!this.#copies.has(page.number)) this.#copies.set(page.number, copy);
    this.#pages.push(copy);
    return copy;
  }

  /** Registers a change of an object that is not yet copied. Later changes of a key replace earlier ones. */
  change(number: number, change: DictChange): void {
    const cached = this.#changes.get(number);
    this.#changes.set(number, {
      set: new Map([...(cached?.set ?? []), ...(change.set ?? [])]),
      drop: new Set([...(cached?.drop ?? []), ...(change.drop ?? [])]),
    });
  }

  /** Returns the reference, as text, to the copy of an object; the next `copyAll` copies it. */
  reference(number: number): string {
    const cached = this.#copies.get(number);
    if (cached !== undefined) return referenceText(cached);
    if (this.#remaining.has(number)) return 'null';
    if (this.#isPageTree(number)) {
      this.#remaining.add(number);
      return 'null';
    }
    const copy = this.#out.reserve();
    this.#copies.set(number, copy);
    this.#queue.push(number);
    return referenceText(copy);
  }

  /** Rewrites a value for the new file; the next `copyAll` copies the objects it refers to. */
  value(slice: ByteSlice, change?: DictChange): string {
    this.#work -= slice.end - slice.start;
    if (this.#work < 0) {
      throw new CryptoError(
        'input.too-large',
        'The pages of the PDF share more than a copy of them could hold.',
      );
    }
    const rewriting = {
      reference: (number: number) => this.reference(number),
      entry: (entry: RewrittenEntry, all: readonly RewrittenEntry[]) => this.#destinationIn(entry, all),
    };
    return rewriteValue(slice, rewriting, change);
  }

  /** Returns a destination as an explicit one; undefined when it does not exist. */
  destination(slice: ByteSlice | undefined): string | undefined {
    const found = this.#destinations.explicit(slice);
    if (found === undefined) return undefined;
    const [page, ...rest] = [...items(found)];
    if (page === undefined) return undefined;
    const number = asReference(page)?.number ?? -1;
    const index = asInteger(page);
    const copy = index === undefined ? this.#copies.get(number) : this.#pages[index];
    if (copy === undefined) return undefined;
    return `[${[referenceText(copy), ...rest.map((item) => this.value(item))].join(' ')}]`;
  }

  /**
   * Copies all pending objects and the objects they refer to. @throws PdfSyntaxError, {CryptoError} `input.too-large`
   */
  copyAll(): void {
    for (let number = this.#queue.pop(); number !== undefined; number = this.#queue.pop()) {
      const copy = this.#copies.get(number);
      if (copy !== undefined) this.#copy(number, copy);
    }
  }

  #copy(number: number, copy: Reference): void {
    const object = this.pdf.plainObject(number);
    if (object?.data === undefined) {
      const value = object?.number === number ? object.value : this.pdf.object(number);
      this.#out.put(copy, value === undefined ? 'null' : this.value(value, this.#changes.get(number)));
      return;
    }
    if (object.number !== number) {
      throw new PdfSyntaxError(`The cross-reference leads to object ${object.number} instead of ${number}.`);
    }
    const keys = this.#streamKeys(number, object.value);
    const length = asInteger(this.pdf.resolve(this.pdf.dict(object.value)?.get('Length')));
    if (length !== undefined && length > CHUNKED_COPY_BYTES && this.#canCopyRaw(object.data, length)) {
      this.#out.writeStream(copy, keys, length, this.#chunks(object.data, length));
      return;
    }
    const data = this.pdf.packedStream(number) ?? Buffer.alloc(0);
    this.#out.writeStream(copy, keys, data.length, [data]);
  }

  /** Omits /Length, which is written anew, and filters that are already undone. */
  #streamKeys(number: number, value: ByteSlice): string {
    const drop = new Set(['Length', 'DL', ...(this.#changes.get(number)?.drop ?? [])]);
    const set = new Map(this.#changes.get(number)?.set ?? []);
    const dict = this.pdf.dict(value);
    const filters = this.#listed(dict?.get('Filter'));
    if (asName(filters[0]) === 'Crypt') {
      drop.add('Filter').add('DecodeParms');
      const list = (pieces: readonly ByteSlice[]) =>
        `[${pieces
          .slice(1)
          .map((one) => this.value(one))
          .join(' ')}]`;
      if (filters.length > 1) {
        set.set('Filter', list(filters));
        set.set('DecodeParms', list(this.#listed(dict?.get('DecodeParms'))));
      }
    }
    return this.value(value, { drop, set }).slice(2, -2);
  }

  #listed(slice: ByteSlice | undefined): readonly ByteSlice[] {
    const found = this.pdf.resolve(slice);
    const list = isArray(found) ? [...items(found)] : isNull(found) ? [] : [found];
    return list.map((item) => this.pdf.resolve(item));
  }

  /** True when the data are unencrypted and end where their length says. */
  #canCopyRaw(at: number, length: number): boolean {
    if (this.pdf.xref.encryption !== undefined || at + length > this.#source.size) return false;
    return /^\s{0,2}endstream/.test(this.#source.read(at + length, 16).toString('latin1'));
  }

  *#chunks(from: number, length: number): Generator<Buffer> {
    for (let at = from; at < from + length; at += CHUNK_BYTES) {
      yield this.#source.read(at, Math.min(CHUNK_BYTES, from + length - at));
    }
  }

  /** True for page tree nodes and pages that are not shown: copying them would copy the whole old document. */
  #isPageTree(number: number): boolean {
    const type = asName(this.pdf.resolve(this.pdf.dict(this.pdf.object(number))?.get('Type')));
    return type === 'Page' || type === 'Pages' || type === 'Catalog' || type === 'ObjStm' || type === 'XRef';
  }

  /** Converts named destinations to explicit ones, since names of several files may collide. */
  #destinationIn({ key, value }: RewrittenEntry, all: readonly RewrittenEntry[]): string | undefined {
    if (key === 'Dest') return this.destination(value) ?? 'null';
    if (key !== 'D' || !isGoTo(all)) return undefined;
    return this.destination(value) ?? 'null';
  }
}

function isGoTo(all: readonly RewrittenEntry[]): boolean {
  return all.some(({ key, value }) => key === 'S' && asName(value) === 'GoTo');
}

/** Resolves named and explicit destinations (ISO 32000-2, 12.3.2). */
class NamedDestinations {
  readonly #pdf: PdfDocument;
  #byName: ReadonlyMap<string, ByteSlice> | undefined;

  constructor(pdf: PdfDocument) {
    this.#pdf = pdf;
  }

  /** Returns the explicit destination array; undefined when there is none. */
  explicit(slice: ByteSlice | undefined): ByteSlice | undefined {
    const found = this.#pdf.resolve(slice);
    if (isArray(found)) return found;
    const name = asName(found) ?? asString(found)?.toString('latin1');
    const target = name === undefined ? undefined : this.#names().get(name);
    return target === undefined ? undefined : this.#arrayOf(target);
  }

  #arrayOf(slice: ByteSlice): ByteSlice | undefined {
    const found = this.#pdf.resolve(slice);
    if (isArray(found)) return found;
    const inside = this.#pdf.resolve(this.#pdf.dict(found)?.get('D'));
    return isArray(inside) ? inside : undefined;
  }

  #names(): ReadonlyMap<string, ByteSlice> {
    if (this.#byName !== undefined) return this.#byName;
    const found = new Map<string, ByteSlice>();
    const pdf = this.#pdf;
    const old = pdf.dict(pdf.catalog.get('Dests'));
    for (const entry of old?.entries ?? []) {
      if (old !== undefined) found.set(old.keyOf(entry), old.valueAt(entry));
    }
    const names = pdf.dict(pdf.catalog.get('Names'));
    for (const [key, value] of treeEntries(pdf, names?.get('Dests'), 'Names')) {
      const name = asString(key)?.toString('latin1');
      if (name !== undefined && !found.has(name)) found.set(name, value);
    }
    this.#byName = found;
    return found;
  }
}

// Reads name trees and number trees (ISO 32000-2, 7.9.6 and 7.9.7) as lists.

/** Most entries; each takes memory. */
const MAX_ENTRIES = 200_000;
const MAX_DEPTH = 64;

/**
 * Iterates over unparsed keys and their values, in the order of the tree. @throws PdfSyntaxError when there are too many
 */
export function* treeEntries(
  pdf: PdfDocument,
  root: ByteSlice | undefined,
  list: 'Names' | 'Nums',
): Generator<readonly [key: ByteSlice, value: ByteSlice]> {
  const seen = new Set<number>();
  const open: Iterator<ByteSlice>[] = root === undefined ? [] : [[root].values()];
  let count = 0;
  for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
    const next = last.next();
    if (next.done === true) {
      open.pop();
      continue;
    }
    const reference = asReference(next.value);
    if (reference !== undefined) {
      if (seen.has(reference.number)) continue;
      seen.add(reference.number);
    }
    const node = pdf.dict(next.value);
    if (node === undefined) continue;
    let key: ByteSlice | undefined;
    for (const item of items(pdf.resolve(node.get(list)))) {
      if (key === undefined) {
        key = item;
        continue;
      }
      if (++count > MAX_ENTRIES)
        throw new PdfSyntaxError(`A tree of names has more than ${MAX_ENTRIES} entries.`);
      yield [pdf.resolve(key), item];
      key = undefined;
    }
    if (open.length < MAX_DEPTH) open.push(items(pdf.resolve(node.get('Kids'))));
  }
}
