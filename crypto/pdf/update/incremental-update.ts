/**
 * Collects the changes of an incremental update before it is written: every object once, for any number of
 * changes.
 */

import { deflateSync } from 'node:zlib';
import { CryptoError } from '../../core/types.ts';
import type { PdfDocument } from '../document/document.ts';
import { sourceText } from '../syntax/source-text.ts';
import {
  asReference,
  type ByteSlice,
  isArray,
  type PdfDict,
  type Reference,
  readDict,
} from '../syntax/values.ts';
import { firstUnusedNumber, type RevisionObject } from './revision.ts';

/** `12 0 R` */
export function referenceText({ number, generation }: Reference): string {
  return `${number} ${generation} R`;
}

export class IncrementalUpdate {
  readonly pdf: PdfDocument;
  readonly catalog: DictUpdate;
  #next: number;
  readonly #added: RevisionObject[] = [];
  readonly #dicts = new Map<number, { readonly reference: Reference; readonly draft: DictUpdate }>();
  #arrays: Map<number, ArrayUpdate> | undefined;

  constructor(pdf: PdfDocument) {
    this.pdf = pdf;
    this.#next = firstUnusedNumber(pdf.xref);
    const root = asReference(pdf.xref.trailer.get('Root'));
    this.catalog = root === undefined ? new DictUpdate(this, pdf.catalog) : this.dict(root, pdf.catalog);
  }

  /** Reserves a number for a new object. */
  reserve(): Reference {
    return { number: this.#next++, generation: 0 };
  }

  /** @param reference result of `reserve` */
  replace(reference: Reference, body: string): void {
    const { number, generation } = reference;
    this.#added.push({ number, generation, body });
  }

  /** Adds a new object. */
  add(body: string): Reference {
    const reference = this.reserve();
    this.replace(reference, body);
    return reference;
  }

  /**
   * Returns the pending changes of an indirect dictionary; the same object for each call.
   * @param written left out for a new one with a reserved number
   */
  dict(reference: Reference, written?: PdfDict): DictUpdate {
    const cached = this.#dicts.get(reference.number);
    if (cached !== undefined) return cached.draft;
    const draft = new DictUpdate(this, written);
    this.#dicts.set(reference.number, { reference, draft });
    return draft;
  }

  /** @internal For `DictUpdate.append`. */
  array(reference: Reference, written: ByteSlice): ArrayUpdate {
    this.#arrays ??= new Map();
    let cached = this.#arrays.get(reference.number);
    if (cached === undefined) {
      cached = { reference, written, items: [] };
      this.#arrays.set(reference.number, cached);
    }
    return cached;
  }

  /**
   * Returns new objects in order of their creation, then the changed ones.
   * @throws {CryptoError} `pdf.malformed` when the catalogue has to change and is a direct object, or when a
   * dictionary to be changed is that of a stream: rewriting it without its data would remove the data from the document
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

interface ArrayUpdate {
  readonly reference: Reference;
  readonly written: ByteSlice;
  readonly items: string[];
}

/** Pending changes of a dictionary; all other bytes stay. */
export class DictUpdate {
  /** The dictionary in the file; undefined for a new one. */
  readonly written: PdfDict | undefined;
  readonly #draft: IncrementalUpdate;
  readonly #values = new Map<string, string>();
  // Created on demand: most dictionaries need neither.
  #lists: Map<string, string[]> | undefined;
  #inside: Map<string, DictUpdate> | undefined;

  constructor(draft: IncrementalUpdate, written: PdfDict | undefined) {
    this.#draft = draft;
    this.written = written;
  }

  get changed(): boolean {
    if (this.#values.size > 0 || this.#lists !== undefined) return true;
    if (this.#inside === undefined) return false;
    for (const draft of this.#inside.values()) if (draft.changed) return true;
    return false;
  }

  /** Returns the value in the file. */
  get(key: string): ByteSlice | undefined {
    return this.written?.get(key);
  }

  set(key: string, value: string): void {
    this.#values.set(key, value);
  }

  /** Returns the dictionary under a key: changed in its own object when indirect, inside this one otherwise. */
  child(key: string): DictUpdate {
    const value = this.get(key);
    const written = this.#draft.pdf.dict(value);
    const reference = written && asReference(value);
    if (written !== undefined && reference !== undefined) return this.#draft.dict(reference, written);
    this.#inside ??= new Map();
    let draft = this.#inside.get(key);
    if (draft === undefined) {
      draft = new DictUpdate(this.#draft, written);
      this.#inside.set(key, draft);
    }
    return draft;
  }

  /** Appends to the array under a key, which is changed in its own object when indirect. */
  append(key: string, item: string): void {
    const value = this.get(key);
    const array = this.#draft.pdf.resolve(value);
    const reference = isArray(array) ? asReference(value) : undefined;
    if (reference !== undefined) this.#draft.array(reference, array).items.push(item);
    else this.appendHere(key, item);
  }

  /** Appends to the array under a key; an indirect array is replaced by a direct copy. */
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

/** Sets keys to new values, as text of one byte per character; strings are not encrypted. */
export function spliceDict(original: PdfDict, changes: ReadonlyMap<string, string>): string {
  const dict =
    original.cipher === undefined ? original : readDict(Buffer.from(sourceText(original), 'latin1'), -1, 0);
  const { bytes } = dict;
  const keys = [...changes.keys()];
  let kept = '';
  let at = dict.start + 2;
  const written = new Set<string>();
  for (const entry of dict.entries) {
    const key = keys.find((name) => dict.isKey(entry, name));
    const value = key === undefined ? undefined : changes.get(key);
    if (key === undefined || value === undefined) continue;
    // A repeated key gets one value in both places, so that all readers agree.
    kept += `${bytes.toString('latin1', at, entry.start)} ${value}`;
    at = entry.end;
    written.add(key);
  }
  kept += bytes.toString('latin1', at, dict.end);
  let added = '';
  for (const [key, value] of changes) {
    if (!written.has(key)) added += `/${key} ${value}`;
  }
  // At the beginning, since a damaged dictionary may end in a key without a value, which would take the new text as
  // its value.
  return `<<${added}${kept}`;
}

/** Appends a value to the array; creates an array when there is none. */
export function appendItem(array: ByteSlice, item: string): string {
  if (!isArray(array)) return `[${item}]`;
  const text = sourceText(array);
  return `${text.slice(0, -1)} ${item}]`;
}

// Formats streams and numbers as PDF text of one byte per character (ISO 32000-2, 7.3.3 and 7.3.8).

/** Destination of new objects: an update of a file, or a new file. */
export interface ObjectSink {
  add(body: string): Reference;
}

/** Formats a stream whose data is already encoded or stays unencoded. @param dict keys and values */
export function streamObject(dict: string, data: Buffer): string {
  return `<<${dict}/Length ${data.length}>>\nstream\n${data.toString('latin1')}\nendstream`;
}

/** Formats a stream and compresses its data. @param dict keys and values without filter */
export function packedStream(dict: string, data: Buffer): string {
  return streamObject(`${dict}/Filter/FlateDecode`, deflateSync(data));
}

/** Formats a number without exponent, exact to a ten-thousandth. */
export function numberText(value: number): string {
  const text = value.toFixed(4).replace(/\.?0{1,4}$/, '');
  return text === '-0' ? '0' : text;
}
