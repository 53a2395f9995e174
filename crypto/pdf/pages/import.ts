/**
 * Copies objects of one PDF into another with all objects they refer to: renumbers, decrypts, and redirects
 * links between pages to the copies.
 */

import { CryptoError } from '../../core/types.ts';
import type { PdfDocument } from '../document/document.ts';
import type { ByteSource } from '../syntax/byte-source.ts';
import { PdfSyntaxError } from '../syntax/damage.ts';
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
import { NamedDestinations } from './destinations.ts';
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
