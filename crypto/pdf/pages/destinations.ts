/** Resolves named and explicit destinations (ISO 32000-2, 12.3.2). */

import type { PdfDocument } from '../document/document.ts';
import { asString } from '../syntax/strings.ts';
import { asName, type ByteSlice, isArray } from '../syntax/values.ts';
import { treeEntries } from './trees.ts';

export class NamedDestinations {
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
