/**
 * Changes of the logical structure (ISO 32000-2, 14.7), by which programs read a document aloud: an element for the field of a
 * signature may be added, and every other part must stay.
 */
import {
  asDict,
  asInteger,
  asName,
  asReference,
  type ByteSlice,
  entriesOf,
  equalEntries,
  equalValues,
  isArray,
  items,
  type PdfDict,
  type PdfDocument,
  referencesIn,
} from '../../pdf/index.ts';
import { type Change, forbidden } from './change-policy.ts';
import type { Place } from './change-rules.ts';
import { entryChanges } from './compared-entries.ts';
import { changedObjectsBelow, type ObjectComparison } from './object-comparison.ts';

const ROOT = 'StructTreeRoot';
/** Most levels of the parent tree. */
const MAX_DEPTH = 32;
/** Entries of the element of a field, and of its reference to the widget. */
const ELEMENT: ReadonlySet<string> = new Set(['Type', 'S', 'P', 'Pg', 'K', 'NS']);
const OBJECT_REFERENCE: ReadonlySet<string> = new Set(['Type', 'Obj', 'Pg']);

interface StructureChanges {
  readonly changes: readonly Change[];
  /** Numbers of changed elements, which were compared entry by entry. */
  readonly compared: ReadonlySet<number>;
}

/**
 * @param exempt objects with rules of their own: pages, fields, annotations
 * @throws PdfSyntaxError; WorkBudgetExceeded
 */
export function structureChanges(
  pair: ObjectComparison,
  exempt: (number: number) => boolean,
): StructureChanges {
  const compared: ReadonlySet<number> = new Set();
  const [was, is] = [pair.before, pair.after].map(({ pdf }) => pdf.catalog.get(ROOT));
  const before = pair.before.pdf.dict(was);
  const after = pair.after.pdf.dict(is);
  if (before === undefined || after === undefined)
    return {
      changes: equalValues(was, is) ? [] : [forbidden(`changed /${ROOT} in the catalogue`)],
      compared,
    };
  const numbers = was === undefined ? [] : referencesIn(was);
  const isSame =
    equalEntries(ROOT, was, is) && changedObjectsBelow(pair, [{ numbers, place: '' }], exempt).length === 0;
  return isSame ? { changes: [], compared } : new StructureComparison(pair, exempt).run(before, after);
}

class StructureComparison {
  readonly #pair: ObjectComparison;
  readonly #exempt: (number: number) => boolean;
  readonly #seen = new Set<number>();
  /** Numbers of elements that were added. */
  readonly #added = new Set<number>();
  readonly #elements = new Set<number>();

  constructor(pair: ObjectComparison, exempt: (number: number) => boolean) {
    this.#pair = pair;
    this.#exempt = exempt;
  }

  run(before: PdfDict, after: PdfDict): StructureChanges {
    const { pdf } = this.#pair.before;
    const root = asReference(pdf.catalog.get(ROOT))?.number;
    if (root !== undefined) this.#seen.add(root);
    const changes = this.#compared('structure', `/${ROOT} in the catalogue`, { before, after, number: root });
    const open = this.#next(before, 'ParentTree');
    for (let number = open.pop(); number !== undefined; number = open.pop()) {
      if (this.#seen.has(number) || this.#exempt(number)) continue;
      this.#seen.add(number);
      this.#pair.before.spend(1);
      if (!this.#pair.changed(number) && !this.#hasOwnList(number)) {
        open.push(...(this.#pair.before.references(number) ?? []));
        continue;
      }
      const what = `/${ROOT} in the catalogue (object ${number})`;
      const [old, now] = [this.#pair.before.pdf, this.#pair.after.pdf].map((state) =>
        elementIn(state, number),
      );
      if (old === undefined || now === undefined) {
        changes.push(forbidden(`changed ${what}`));
        continue;
      }
      this.#elements.add(number);
      changes.push(...this.#compared('structure element', what, { before: old, after: now, number }));
      open.push(...this.#next(old));
    }
    if (!this.#keepsParents(before.get('ParentTree'), after.get('ParentTree')))
      changes.push(forbidden(`changed /${ROOT} in the catalogue: its parent tree`));
    if (changes.length === 0 && this.#added.size > 0)
      changes.push({ kind: 'tagging', description: 'added the element of a signature to the structure' });
    return { changes, compared: this.#elements };
  }

  #compared(
    place: Place,
    what: string,
    {
      before,
      after,
      number,
    }: { readonly before: PdfDict; readonly after: PdfDict; readonly number: number | undefined },
  ): Change[] {
    // Kids are also compared where their list is an object of its own.
    const compared = { place, what, before, after, below: () => true } as const;
    return [
      ...entryChanges(compared, (_, keys) =>
        keys.every((key) => this.#keeps(key, before, after, number)) ? [] : forbidden(`changed ${what}`),
      ),
    ];
  }

  #keeps(key: string, before: PdfDict, after: PdfDict, parent: number | undefined): boolean {
    if (key === 'K') return this.#grows(before.get(key), after.get(key), parent);
    return key === 'ParentTree' || (asInteger(after.get(key)) ?? -1) >= (asInteger(before.get(key)) ?? 0);
  }

  /** True when all kids stay in their order, and each other one is the element of a signature. */
  #grows(before: ByteSlice | undefined, after: ByteSlice | undefined, parent: number | undefined): boolean {
    const old = kidsOf(this.#pair.before.pdf, before);
    let at = 0;
    for (const kid of kidsOf(this.#pair.after.pdf, after)) {
      this.#pair.before.spend(1);
      const next = old[at];
      if (next !== undefined && equalValues(next, kid)) at++;
      else {
        const number = asReference(kid)?.number;
        if (number === undefined || !this.#isOfSignature(number, parent)) return false;
        this.#added.add(number);
      }
    }
    return at === old.length;
  }

  #isOfSignature(number: number, parent: number | undefined): boolean {
    const { before, after } = this.#pair;
    const element = after.pdf.dict(after.pdf.object(number));
    const page = asReference(element?.get('Pg'))?.number;
    const namespace = element?.get('NS');
    const [kid, ...others] = kidsOf(after.pdf, element?.get('K'));
    const link = after.pdf.dict(kid);
    const widget = after.pdf.dict(link?.get('Obj'));
    const field = widget?.get('FT') ?? after.pdf.dict(widget?.get('Parent'))?.get('FT');
    return (
      !before.has(number) &&
      hasOnly(element, ELEMENT) &&
      asName(element?.get('S')) === 'Form' &&
      asReference(element?.get('P'))?.number === parent &&
      (page === undefined || this.#exempt(page)) &&
      (namespace === undefined || before.has(asReference(namespace)?.number ?? -1)) &&
      others.length === 0 &&
      hasOnly(link, OBJECT_REFERENCE) &&
      asName(link?.get('Type')) === 'OBJR' &&
      asName(widget?.get('Subtype')) === 'Widget' &&
      asName(after.pdf.resolve(field)) === 'Sig'
    );
  }

  /** True when what each key of the parent tree leads to stays, and new ones lead to added elements. */
  #keepsParents(before: ByteSlice | undefined, after: ByteSlice | undefined): boolean {
    const { before: was, after: is } = this.#pair;
    const old = this.#flat(was.pdf, before);
    const now = this.#flat(is.pdf, after);
    if (old === undefined) return equalValues(before, after) && this.#staysBelow(before);
    if (now === undefined) return false;
    for (const [key, value] of old) {
      const later = now.get(key);
      if (later === undefined || !isSameParent(was.pdf, value, is.pdf, later)) return false;
    }
    return [...now].every(
      ([key, value]) => old.has(key) || this.#added.has(asReference(value)?.number ?? -1),
    );
  }

  #staysBelow(value: ByteSlice | undefined): boolean {
    const numbers = value === undefined ? [] : referencesIn(value);
    return changedObjectsBelow(this.#pair, [{ numbers, place: '' }], this.#exempt).length === 0;
  }

  /** Returns the values of a number tree (7.9.7) by their keys; undefined for what is none. */
  #flat(pdf: PdfDocument, node: ByteSlice | undefined): ReadonlyMap<number, ByteSlice> | undefined {
    const found = new Map<number, ByteSlice>();
    const open = [{ node, depth: 0 }];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const dict = pdf.dict(next.node);
      if (dict === undefined || next.depth > MAX_DEPTH) return undefined;
      for (const kid of kidsOf(pdf, dict.get('Kids'))) open.push({ node: kid, depth: next.depth + 1 });
      const pairs = kidsOf(pdf, dict.get('Nums'));
      this.#pair.before.spend(pairs.length + 1);
      for (let at = 0; at < pairs.length; at += 2) {
        const key = asInteger(pairs[at]);
        const value = pairs[at + 1];
        if (key === undefined || value === undefined || found.has(key)) return undefined;
        found.set(key, value);
      }
    }
    return found;
  }

  /** True for an element whose kids are in an object of their own. */
  #hasOwnList(number: number): boolean {
    const { pdf } = this.#pair.before;
    const kids = elementIn(pdf, number)?.get('K');
    return kids !== undefined && asReference(kids) !== undefined && isArray(pdf.resolve(kids));
  }

  /** Returns what an object leads to, except by an entry that is compared otherwise; of kids, without the list itself. */
  #next(dict: PdfDict, except = ''): number[] {
    const numbers = dict.entries.flatMap((entry) => {
      const key = dict.keyOf(entry);
      const value = dict.valueAt(entry);
      if (key === except) return [];
      return key === 'K'
        ? kidsOf(this.#pair.before.pdf, value).map((kid) => referencesIn(kid))
        : [referencesIn(value)];
    });
    return numbers.flat();
  }
}

/** Returns a structure element; undefined for another object. */
function elementIn(pdf: PdfDocument, number: number): PdfDict | undefined {
  const dict = pdf.dict(pdf.object(number));
  const type = dict?.get('Type');
  const isElement =
    asName(dict?.get('S')) !== undefined && (type === undefined || asName(type) === 'StructElem');
  return isElement ? dict : undefined;
}

/** Returns the members of a list, or the one value in the place of a list; references stay references. */
function kidsOf(pdf: PdfDocument, value: ByteSlice | undefined): readonly ByteSlice[] {
  if (value === undefined) return [];
  const list = pdf.resolve(value);
  return isArray(list) ? [...items(list)] : [value];
}

function hasOnly(dict: PdfDict | undefined, keys: ReadonlySet<string>): boolean {
  const entries = dict && entriesOf(dict);
  return entries !== undefined && [...entries.keys()].every((key) => keys.has(key));
}

/** Lists of elements are written anew; an element stays the same object. */
function isSameParent(was: PdfDocument, before: ByteSlice, is: PdfDocument, after: ByteSlice): boolean {
  const old = was.resolve(before);
  return isArray(old)
    ? equalValues(old, is.resolve(after))
    : equalValues(before, after) && asDict(before) === undefined;
}
