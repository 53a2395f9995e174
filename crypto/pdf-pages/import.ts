/**
 * Copies objects of one PDF into another, with all they refer to: numbers change, encryption is undone, and what
 * leads from one page to another leads to the copies.
 */
import { referenceText } from '../pades/draft.ts';
import {
  asInteger,
  asName,
  asReference,
  type ByteSource,
  type DictChange,
  isArray,
  isNull,
  items,
  PdfDamage,
  type PdfDocument,
  type Piece,
  type Reference,
  type RewrittenEntry,
  rewriteValue,
} from '../pdf/index.ts';
import { CryptoError } from '../types.ts';
import { NamedDestinations } from './destinations.ts';
import type { NewPdf } from './new-pdf.ts';

/** Streams longer than this pass through in pieces, unless they have to be decrypted; bytes. */
const IN_PIECES = 8 << 20;
const PIECE = 1 << 20;

export class Importer {
  readonly pdf: PdfDocument;
  readonly #source: ByteSource;
  readonly #out: NewPdf;
  readonly #copies = new Map<number, Reference>();
  /** Objects that are not copied. */
  readonly #left = new Set<number>();
  readonly #changes = new Map<number, DictChange>();
  readonly #destinations: NamedDestinations;
  /** Copies of the pages in their order. */
  readonly #pages: Reference[] = [];
  readonly #queue: number[] = [];
  /** Bytes that may still be written anew: what many pages inherit is written once for each. */
  #work: number;

  constructor(pdf: PdfDocument, source: ByteSource, out: NewPdf) {
    this.pdf = pdf;
    this.#source = source;
    this.#out = out;
    this.#destinations = new NamedDestinations(pdf);
    this.#work = 8 * source.size + (64 << 20);
  }

  /** The copy of a page, which the caller writes. A page that is shown twice is known by its first copy. */
  announcePage(page: Reference): Reference {
    const copy = this.#out.reserve();
    if (!this.#copies.has(page.number)) this.#copies.set(page.number, copy);
    this.#pages.push(copy);
    return copy;
  }

  /** Has an effect as long as the object is not copied yet. Later changes of one key win. */
  change(number: number, change: DictChange): void {
    const known = this.#changes.get(number);
    this.#changes.set(number, {
      set: new Map([...(known?.set ?? []), ...(change.set ?? [])]),
      drop: new Set([...(known?.drop ?? []), ...(change.drop ?? [])]),
    });
  }

  /** The reference, as text, to the copy of an object, which is made by the next `copyAll`. */
  reference(number: number): string {
    const known = this.#copies.get(number);
    if (known !== undefined) return referenceText(known);
    if (this.#left.has(number)) return 'null';
    if (this.#isPageTree(number)) {
      this.#left.add(number);
      return 'null';
    }
    const copy = this.#out.reserve();
    this.#copies.set(number, copy);
    this.#queue.push(number);
    return referenceText(copy);
  }

  /** A value as the new file has it; what it refers to is copied by the next `copyAll`. */
  value(piece: Piece, change?: DictChange): string {
    this.#work -= piece.end - piece.start;
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
    return rewriteValue(piece, rewriting, change);
  }

  /** Where a destination leads, as an explicit one; undefined when it leads nowhere here. */
  destination(piece: Piece | undefined): string | undefined {
    const found = this.#destinations.explicit(piece);
    if (found === undefined) return undefined;
    const [page, ...rest] = [...items(found)];
    if (page === undefined) return undefined;
    const number = asReference(page)?.number ?? -1;
    const index = asInteger(page);
    const copy = index === undefined ? this.#copies.get(number) : this.#pages[index];
    if (copy === undefined) return undefined;
    return `[${[referenceText(copy), ...rest.map((item) => this.value(item))].join(' ')}]`;
  }

  /** Copies what was referred to, and what that refers to. @throws PdfDamage, {CryptoError} `input.too-large` */
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
      throw new PdfDamage(`The cross-reference leads to object ${object.number} instead of ${number}.`);
    }
    const keys = this.#streamKeys(number, object.value);
    const length = asInteger(this.pdf.resolve(this.pdf.dict(object.value)?.get('Length')));
    if (length !== undefined && length > IN_PIECES && this.#mayPass(object.data, length)) {
      this.#out.putStream(copy, keys, length, this.#pieces(object.data, length));
      return;
    }
    const data = this.pdf.packedStream(number) ?? Buffer.alloc(0);
    this.#out.putStream(copy, keys, data.length, [data]);
  }

  /** Without the length, which is written anew, and without filters that are undone by now. */
  #streamKeys(number: number, value: Piece): string {
    const drop = new Set(['Length', 'DL', ...(this.#changes.get(number)?.drop ?? [])]);
    const set = new Map(this.#changes.get(number)?.set ?? []);
    const dict = this.pdf.dict(value);
    const filters = this.#listed(dict?.get('Filter'));
    if (asName(filters[0]) === 'Crypt') {
      drop.add('Filter').add('DecodeParms');
      const list = (pieces: readonly Piece[]) =>
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

  #listed(piece: Piece | undefined): readonly Piece[] {
    const found = this.pdf.resolve(piece);
    const list = isArray(found) ? [...items(found)] : isNull(found) ? [] : [found];
    return list.map((item) => this.pdf.resolve(item));
  }

  /** True when the data need no key and end where their length says. */
  #mayPass(at: number, length: number): boolean {
    if (this.pdf.xref.encryption !== undefined || at + length > this.#source.size) return false;
    return /^\s{0,2}endstream/.test(this.#source.read(at + length, 16).toString('latin1'));
  }

  *#pieces(from: number, length: number): Generator<Buffer> {
    for (let at = from; at < from + length; at += PIECE) {
      yield this.#source.read(at, Math.min(PIECE, from + length - at));
    }
  }

  /** Pages that are not shown, and the tree above: a copy of them would drag the whole old document along. */
  #isPageTree(number: number): boolean {
    const type = asName(this.pdf.resolve(this.pdf.dict(this.pdf.object(number))?.get('Type')));
    return type === 'Page' || type === 'Pages' || type === 'Catalog' || type === 'ObjStm' || type === 'XRef';
  }

  /** Destinations by name would have to differ from those of other files: they become explicit. */
  #destinationIn({ key, value }: RewrittenEntry, all: readonly RewrittenEntry[]): string | undefined {
    if (key === 'Dest') return this.destination(value) ?? 'null';
    if (key !== 'D' || !isGoTo(all)) return undefined;
    return this.destination(value) ?? 'null';
  }
}

function isGoTo(all: readonly RewrittenEntry[]): boolean {
  return all.some(({ key, value }) => key === 'S' && asName(value) === 'GoTo');
}
