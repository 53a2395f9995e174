/**
 * What a later revision may do to the trailer and the catalogue (ISO 32000-2, 7.5.5 and 7.7.2): evidence, metadata,
 * the form. Every other entry must stay equal.
 */
import {
  asDict,
  asName,
  asReference,
  entriesOf,
  equalValues,
  isArray,
  isNull,
  items,
  type PdfDict,
  type PdfDocument,
  type Piece,
  referencesIn,
} from '../../pdf/index.ts';
import { type Change, forbidden } from './change.ts';
import type { StatePair } from './state-pair.ts';

/** Entries of the catalogue that are compared by what they mean; all others must stay equal. */
export const OPEN_CATALOG_KEYS: ReadonlySet<string> = new Set([
  'AcroForm',
  'DSS',
  'Metadata',
  'Version',
  'Extensions',
]);

/** @returns the keys outside `open` whose values differ; `written twice` when the newer one has a key twice */
export function changedKeys(before: PdfDict, after: PdfDict, open: ReadonlySet<string>): readonly string[] {
  const values = entriesOf(after);
  if (values === undefined) return ['written twice'];
  const keys = new Set([...values.keys(), ...before.entries.map((entry) => before.keyOf(entry))]);
  return [...keys].filter((key) => !open.has(key) && !equalValues(before.get(key), values.get(key)));
}

export function trailerChanges(pair: StatePair): readonly Change[] {
  const before = pair.before.pdf.xref.trailer;
  const after = pair.after.pdf.xref.trailer;
  const changes: Change[] = [];
  for (const key of ['Root', 'Encrypt']) {
    if (!equalValues(before.get(key), after.get(key)))
      changes.push(forbidden(`exchanged the /${key} of the trailer`));
  }
  const info = asReference(before.get('Info'))?.number;
  const changedInfo =
    !equalValues(before.get('Info'), after.get('Info')) || (info !== undefined && pair.changed(info));
  if (changedInfo) {
    const dict = pair.after.pdf.dict(after.get('Info'));
    // Document information is text about the document; a reference in it could lead anywhere.
    const plain = dict === undefined || referencesIn(dict).length === 0;
    changes.push(
      plain
        ? { kind: 'metadata', description: 'changed the document information' }
        : forbidden('put references into the document information'),
    );
  }
  return changes;
}

export function catalogChanges(pair: StatePair): readonly Change[] {
  const before = pair.before.pdf.catalog;
  const after = pair.after.pdf.catalog;
  const changes: Change[] = changedKeys(before, after, OPEN_CATALOG_KEYS).map((key) =>
    forbidden(
      `changed ${key.startsWith('w') ? 'the catalogue, which has a key twice' : `/${key} in the catalogue`}`,
    ),
  );
  changes.push(...metadataChanges(pair, before, after), ...evidenceChanges(pair, before, after));
  for (const key of ['Version', 'Extensions']) {
    const [old, now] = [before.get(key), after.get(key)];
    if (equalValues(old, now)) continue;
    const value = pair.after.pdf.resolve(now);
    const harmless =
      key === 'Version'
        ? asName(value) !== undefined
        : addsOnly(pair, old, now) && referencesIn(value).length === 0;
    const description = `changed /${key} in the catalogue`;
    changes.push(harmless ? { kind: 'metadata', description } : forbidden(description));
  }
  return changes;
}

function metadataChanges(pair: StatePair, before: PdfDict, after: PdfDict): readonly Change[] {
  const number = asReference(after.get('Metadata'))?.number;
  const same = equalValues(before.get('Metadata'), after.get('Metadata'));
  if (same && (number === undefined || !pair.changed(number))) return [];
  const dict = number === undefined ? undefined : pair.after.pdf.dict(after.get('Metadata'));
  const plain =
    dict !== undefined && asName(dict.get('Type')) === 'Metadata' && asName(dict.get('Subtype')) === 'XML';
  return [
    plain ? { kind: 'metadata', description: 'changed the XMP metadata' } : forbidden('changed /Metadata'),
  ];
}

/** True when every entry of the older dictionary is in the newer one, equal. */
export function addsOnly(pair: StatePair, before: Piece | undefined, after: Piece | undefined): boolean {
  const old = pair.before.pdf.dict(before);
  const now = pair.after.pdf.dict(after);
  if (now === undefined) return old === undefined;
  const values = entriesOf(now);
  if (values === undefined) return false;
  return (
    old === undefined ||
    old.entries.every((entry) => equalValues(old.valueAt(entry), values.get(old.keyOf(entry))))
  );
}

const STORE_KEYS = ['Type', 'VRI', 'Certs', 'OCSPs', 'CRLs'];
const ENTRY_KEYS = ['Type', 'Cert', 'OCSP', 'CRL', 'TU', 'TS'];

/** The document security store may change as it likes, as long as it is nothing but one (12.8.4.3). */
function evidenceChanges(pair: StatePair, before: PdfDict, after: PdfDict): readonly Change[] {
  const { pdf } = pair.after;
  const store = pdf.dict(after.get('DSS'));
  const old = pair.before.pdf.dict(before.get('DSS'));
  if (store === undefined) {
    if (equalValues(before.get('DSS'), after.get('DSS'))) return [];
    return [forbidden('left something else than evidence in /DSS')];
  }
  if (old !== undefined && storeIsSame(pair, before.get('DSS'), after.get('DSS'))) return [];
  if (!isStore(pdf, store)) return [forbidden('wrote something else than evidence into /DSS')];
  return [{ kind: 'evidence', description: 'added evidence (DSS)' }];
}

function storeIsSame(pair: StatePair, before: Piece | undefined, after: Piece | undefined): boolean {
  if (!equalValues(before, after)) return false;
  const open = before === undefined ? [] : [...referencesIn(before)];
  const seen = new Set<number>();
  for (let number = open.pop(); number !== undefined; number = open.pop()) {
    if (seen.has(number)) continue;
    seen.add(number);
    if (pair.changed(number)) return false;
    open.push(...(pair.before.references(number) ?? []));
  }
  return true;
}

function isStore(pdf: PdfDocument, store: PdfDict): boolean {
  const values = entriesOf(store);
  if (values === undefined || [...values.keys()].some((key) => !STORE_KEYS.includes(key))) return false;
  for (const key of ['Certs', 'OCSPs', 'CRLs']) if (!isListOfStreams(pdf, values.get(key))) return false;
  const related = pdf.dict(values.get('VRI'));
  if (related === undefined) return !values.has('VRI');
  return related.entries.every((entry) => {
    const own = pdf.dict(related.valueAt(entry));
    const parts = own && entriesOf(own);
    if (parts === undefined || [...parts.keys()].some((key) => !ENTRY_KEYS.includes(key))) return false;
    return ['Cert', 'OCSP', 'CRL'].every((key) => isListOfStreams(pdf, parts.get(key)));
  });
}

function isListOfStreams(pdf: PdfDocument, piece: Piece | undefined): boolean {
  if (piece === undefined || isNull(piece)) return true;
  const list = pdf.resolve(piece);
  if (!isArray(list)) return false;
  for (const item of items(list)) {
    const number = asReference(item)?.number;
    if (number === undefined || pdf.plainObject(number)?.data === undefined) return false;
    // What could be a content stream or a form is no evidence.
    if (asDict(pdf.resolve(item))?.get('Subtype') !== undefined) return false;
  }
  return true;
}
