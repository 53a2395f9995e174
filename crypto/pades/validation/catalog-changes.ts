/**
 * Permitted changes of the trailer and the catalogue (ISO 32000-2, 7.5.5 and 7.7.2): evidence, metadata,
 * the form. Every other entry must stay equal.
 */
import {
  asDict,
  asInteger,
  asName,
  asReference,
  asText,
  type ByteSlice,
  entriesOf,
  equalValues,
  isArray,
  isNull,
  items,
  type PdfDict,
  type PdfDocument,
  referencesIn,
} from '../../pdf/index.ts';
import { type Change, forbidden } from './change-policy.ts';
import type { ObjectComparison } from './object-comparison.ts';

/** Entries of the catalogue with comparison rules of their own; all others must stay equal. */
export const OPEN_CATALOG_KEYS: ReadonlySet<string> = new Set([
  'AcroForm',
  'DSS',
  'Metadata',
  'Version',
  'Extensions',
  'PageMode',
  'PageLayout',
]);

/** Parts of the window that viewers open with the document (ISO 32000-2, table 29); full screen would hide the window. */
const MODES: ReadonlySet<string> = new Set([
  'UseNone',
  'UseOutlines',
  'UseThumbs',
  'UseOC',
  'UseAttachments',
  'SinglePage',
  'OneColumn',
  'TwoColumnLeft',
  'TwoColumnRight',
  'TwoPageLeft',
  'TwoPageRight',
]);

/** @returns the keys outside `open` whose values differ; `written twice` when the newer dictionary repeats a key */
export function changedKeys(before: PdfDict, after: PdfDict, open: ReadonlySet<string>): readonly string[] {
  const values = entriesOf(after);
  if (values === undefined) return ['written twice'];
  const keys = new Set([...values.keys(), ...before.entries.map((entry) => before.keyOf(entry))]);
  return [...keys].filter((key) => !open.has(key) && !equalValues(before.get(key), values.get(key)));
}

export function trailerChanges(pair: ObjectComparison): readonly Change[] {
  const before = pair.before.pdf.xref.trailer;
  const after = pair.after.pdf.xref.trailer;
  const changes: Change[] = [];
  if (!equalValues(before.get('Encrypt'), after.get('Encrypt')))
    changes.push(forbidden('exchanged the /Encrypt of the trailer'));
  // Object 0 is always free (7.5.4); some readers answer another entry by rebuilding the document.
  if (pair.after.has(0) && !pair.before.has(0)) changes.push(forbidden('put object 0 into use'));
  const repeated = TRAILER_KEYS.find((key) => after.count(key) > 1);
  if (repeated !== undefined) changes.push(forbidden(`wrote /${repeated} twice into the trailer`));
  const last = pair.after.pdf.xref.bound - 1;
  if (last > MAX_NUMBER && pair.before.pdf.xref.bound <= MAX_NUMBER + 1)
    changes.push(forbidden(`lists object ${last}, a number that some readers do not accept`));
  const previous = after.get('Prev');
  if (previous !== undefined && !isPlainInteger(previous))
    changes.push(forbidden('wrote the /Prev of the trailer in an unusual form'));
  const size = asInteger(after.get('Size')) ?? 0;
  if (size > pair.after.pdf.xref.bound + MAX_GAP)
    changes.push(forbidden(`claims ${size} objects in the trailer`));
  if (!equalValues(before.get('Root'), after.get('Root'))) changes.push(...exchangedRoot(pair));
  const info = asReference(before.get('Info'))?.number;
  const changedInfo =
    !equalValues(before.get('Info'), after.get('Info')) || (info !== undefined && pair.changed(info));
  if (changedInfo) {
    changes.push(changedInformation(pair, after.get('Info')));
  }
  return changes;
}

/** Keys that decide which document is shown: some readers use the first value of a repeated key, others the last. */
const TRAILER_KEYS = ['Root', 'Prev', 'XRefStm', 'Encrypt', 'Info', 'Size', 'Index', 'W'];

/** Highest object number of usual readers (ISO 32000-1, annex C); some answer a higher one by rebuilding the document. */
const MAX_NUMBER = 8_388_607;

/** Most numbers between the last object and the size that a trailer claims; some readers cannot open a larger one. */
const MAX_GAP = 1 << 20;

function isPlainInteger({ bytes, start, end }: ByteSlice): boolean {
  return /^\+?[0-9]+$/.test(bytes.toString('latin1', start, end));
}

function changedInformation({ before, after }: ObjectComparison, given: ByteSlice | undefined): Change {
  const dict = after.pdf.dict(given);
  if (dict === undefined && given !== undefined && !isNull(given))
    return forbidden('left something else than document information in /Info');
  // Document information must be text; a reference in it could refer to any object.
  if (dict !== undefined && referencesIn(dict).length > 0)
    return forbidden('put references into the document information');
  const old = before.pdf.dict(before.pdf.xref.trailer.get('Info'));
  const text = (key: string, state: typeof after, from: PdfDict | undefined): string =>
    asText(state.pdf.resolve(from?.get(key))) ?? '';
  const key = SHOWN_INFORMATION.find((one) => text(one, before, old) !== text(one, after, dict));
  return key === undefined
    ? { kind: 'metadata', description: 'changed the document information' }
    : { kind: 'metadata', description: `changed the document information: /${key}`, isNoticed: true };
}

/** Entries that viewers show; each program that saves a file changes the others. */
const SHOWN_INFORMATION = ['Title', 'Author', 'Subject', 'Keywords'];

/** Compares a new catalogue object entry by entry, as an existing one. */
function exchangedRoot({ before, after }: ObjectComparison): readonly Change[] {
  const number = asReference(after.pdf.xref.trailer.get('Root'))?.number;
  const isNew = number !== undefined && !before.has(number);
  return [
    isNew && asName(after.pdf.catalog.get('Type')) === 'Catalog'
      ? { kind: 'metadata', description: 'put another object into the place of the catalogue' }
      : forbidden('exchanged the /Root of the trailer'),
  ];
}

export function catalogChanges(pair: ObjectComparison): readonly Change[] {
  const before = pair.before.pdf.catalog;
  const after = pair.after.pdf.catalog;
  const changes: Change[] = changedKeys(before, after, OPEN_CATALOG_KEYS).map((key) =>
    forbidden(
      `changed ${key.startsWith('w') ? 'the catalogue, which has a key twice' : `/${key} in the catalogue`}`,
    ),
  );
  changes.push(...metadataChanges(pair, before, after), ...evidenceChanges(pair, before, after));
  for (const key of ['Version', 'Extensions', 'PageMode', 'PageLayout']) {
    const [old, now] = [before.get(key), after.get(key)];
    if (equalValues(old, now)) continue;
    const value = pair.after.pdf.resolve(now);
    const name = asName(value);
    const harmless =
      key === 'Version'
        ? name !== undefined
        : key === 'Extensions'
          ? addsOnly(pair, old, now) && referencesIn(value).length === 0
          : now === undefined || (asName(now) !== undefined && MODES.has(name ?? ''));
    const description = `changed /${key} in the catalogue`;
    const noticed = key === 'Extensions' ? {} : { isNoticed: true as const };
    changes.push(harmless ? { kind: 'metadata', description, ...noticed } : forbidden(description));
  }
  return changes;
}

function metadataChanges(pair: ObjectComparison, before: PdfDict, after: PdfDict): readonly Change[] {
  const number = asReference(after.get('Metadata'))?.number;
  const same = equalValues(before.get('Metadata'), after.get('Metadata'));
  if (same && (number === undefined || !pair.changed(number))) return [];
  const dict = number === undefined ? undefined : pair.after.pdf.dict(after.get('Metadata'));
  const plain =
    dict !== undefined && asName(dict.get('Type')) === 'Metadata' && asName(dict.get('Subtype')) === 'XML';
  if (!plain) return [forbidden('changed /Metadata')];
  const text = withoutTraces(pair.after.pdf.stream(after.get('Metadata')));
  const isNoticed =
    text === undefined || text !== withoutTraces(pair.before.pdf.stream(before.get('Metadata')));
  return [{ kind: 'metadata', description: 'changed the XMP metadata', ...(isNoticed && { isNoticed }) }];
}

/** Most bytes of metadata that are compared. */
const MAX_METADATA = 1 << 20;
const HISTORY_END = '</xmpMM:History>';

/**
 * Returns XMP without what each program that saves a file changes: dates, identifiers, its name and history, white space.
 * Undefined for what is not compared. Takes time in proportion to the length, whatever the bytes.
 */
function withoutTraces(bytes: Buffer | undefined): string | undefined {
  if (bytes === undefined || bytes.length > MAX_METADATA) return undefined;
  const [head = '', ...rest] = bytes.toString('utf8').split('<xmpMM:History>');
  const afterHistory = (part: string): string => {
    const end = part.indexOf(HISTORY_END);
    return end < 0 ? part : part.slice(end + HISTORY_END.length);
  };
  return [head, ...rest.map(afterHistory)]
    .join('')
    .replace(
      /<(?:xmp|xap|xmpMM|pdf):(?:ModifyDate|MetadataDate|InstanceID|Producer|CreatorTool)>[^<]*<\/[^>]*>/g,
      '',
    )
    .replace(
      /\s(?:xmp|xap|xmpMM|pdf):(?:ModifyDate|MetadataDate|InstanceID|Producer|CreatorTool)="[^"]*"/g,
      '',
    )
    .replace(/<\?xpacket[^<>]*>|\sx:xmptk="[^"]*"|\s+/g, '');
}

/** True when every entry of the older dictionary is in the newer one, with an equal value. */
export function addsOnly(
  pair: ObjectComparison,
  before: ByteSlice | undefined,
  after: ByteSlice | undefined,
): boolean {
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

/** Permits any change of the document security store that keeps its structure valid (12.8.4.3). */
function evidenceChanges(pair: ObjectComparison, before: PdfDict, after: PdfDict): readonly Change[] {
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

function storeIsSame(
  pair: ObjectComparison,
  before: ByteSlice | undefined,
  after: ByteSlice | undefined,
): boolean {
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

function isListOfStreams(pdf: PdfDocument, slice: ByteSlice | undefined): boolean {
  if (slice === undefined || isNull(slice)) return true;
  const list = pdf.resolve(slice);
  if (!isArray(list)) return false;
  for (const item of items(list)) {
    const number = asReference(item)?.number;
    if (number === undefined || pdf.plainObject(number)?.data === undefined) return false;
    // A stream that could be a content stream or a form is not evidence.
    if (asDict(pdf.resolve(item))?.get('Subtype') !== undefined) return false;
  }
  return true;
}
