/**
 * Where links lead: destinations by name and those that say it themselves (ISO 32000-2, 12.3.2).
 */
import { asName, asString, isArray, type PdfDocument, type Piece } from '../pdf/index.ts';
import { treeEntries } from './trees.ts';

export class NamedDestinations {
  readonly #pdf: PdfDocument;
  #byName: ReadonlyMap<string, Piece> | undefined;

  constructor(pdf: PdfDocument) {
    this.#pdf = pdf;
  }

  /** The array a destination is or stands for; undefined for one that leads nowhere. */
  explicit(piece: Piece | undefined): Piece | undefined {
    const found = this.#pdf.resolve(piece);
    if (isArray(found)) return found;
    const name = asName(found) ?? asString(found)?.toString('latin1');
    const target = name === undefined ? undefined : this.#names().get(name);
    return target === undefined ? undefined : this.#arrayOf(target);
  }

  #arrayOf(piece: Piece): Piece | undefined {
    const found = this.#pdf.resolve(piece);
    if (isArray(found)) return found;
    const inside = this.#pdf.resolve(this.#pdf.dict(found)?.get('D'));
    return isArray(inside) ? inside : undefined;
  }

  #names(): ReadonlyMap<string, Piece> {
    if (this.#byName !== undefined) return this.#byName;
    const found = new Map<string, Piece>();
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
