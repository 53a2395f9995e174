/**
 * Permitted changes of the trailer and the catalogue (ISO 32000-2, 7.5.5 and 7.7.2): evidence, metadata,
 * the form. Every other entry must stay equal.
 */
import { hash } from 'node:crypto';
import {
  asDict,
  asInteger,
  asName,
  asReference,
  type ByteSlice,
  entriesOf,
  equalValues,
  isArray,
  isNull,
  items,
  type PdfDict,
  type PdfDocument,
  PdfSyntaxError,
  referencesIn,
} from '../../pdf/index.ts';
import { type Change, forbidden } from './change-policy.ts';
import { type Place, ruleOf } from './change-rules.ts';
import { changedBelow, entryChanges, isPlain } from './compared-entries.ts';
import { STORED } from './embedded-evidence.ts';
import { changedObjectsBelow, type ObjectComparison } from './object-comparison.ts';

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

export function trailerChanges(pair: ObjectComparison): readonly Change[] {
  const before = pair.before.pdf.xref.trailer;
  const after = pair.after.pdf.xref.trailer;
  const changes: Change[] = [];
  // Object 0 is always free (7.5.4); some readers answer another entry by rebuilding the document.
  if (pair.after.has(0) && !pair.before.has(0)) changes.push(forbidden('put object 0 into use'));
  const last = pair.after.pdf.xref.bound - 1;
  if (last > MAX_NUMBER && pair.before.pdf.xref.bound <= MAX_NUMBER + 1)
    changes.push(forbidden(`lists object ${last}, a number that some readers do not accept`));
  const previous = after.get('Prev');
  if (previous !== undefined && !isPlainInteger(previous))
    changes.push(forbidden('wrote the /Prev of the trailer in an unusual form'));
  const size = asInteger(after.get('Size')) ?? 0;
  if (size > pair.after.pdf.xref.bound + MAX_GAP)
    changes.push(forbidden(`claims ${size} objects in the trailer`));
  const information = asReference(before.get('Info'))?.number;
  const compared = {
    place: 'trailer',
    what: 'the trailer',
    before,
    after,
    below: (key: string) =>
      (key === 'Info' && information !== undefined && pair.changed(information)) ||
      (key === 'AdditionalStreams' && changedBelow(pair, before)(key)),
  } as const;
  return [
    ...changes,
    ...entryChanges(compared, (rule, keys) => {
      if (rule.judged === 'root') return exchangedRoot(pair);
      if (rule.judged === 'part') return changedInformation(pair, after.get('Info'));
      if (rule.judged === 'dropped') return changedStreams(pair, before, after);
      return keys.every((key) => isPlain(after.get(key)))
        ? { kind: 'continuation', description: 'continues the file, with nothing that is in use' }
        : forbidden(`put references into the trailer (/${keys.join(', /')})`);
    }),
  ];
}

/**
 * /AdditionalStreams: the document in another format. Its editor opens it by the first trailer that has it with a checksum
 * of what comes before, so the streams stay; some programs write references anew, to numbers that are free or used later.
 */
function changedStreams(pair: ObjectComparison, before: PdfDict, after: PdfDict): Change {
  const key = 'AdditionalStreams';
  const value = after.get(key);
  const kept = streamsIn(pair.before.pdf, before.get(key));
  const isDropped =
    (value === undefined || isArray(value)) &&
    streamsIn(pair.after.pdf, value).length === 0 &&
    changedObjectsBelow(pair, [{ numbers: kept, place: '' }], () => false).length === 0;
  return isDropped
    ? { kind: 'continuation', description: `left out /${key} of the trailer` }
    : forbidden(`changed /${key} of the trailer, which programs open in place of the pages`);
}

const streamsIn = (pdf: PdfDocument, value: ByteSlice | undefined): readonly number[] =>
  value === undefined
    ? []
    : referencesIn(value).filter((number) => pdf.plainObject(number)?.data !== undefined);

/** Highest object number of usual readers (ISO 32000-1, annex C); some answer a higher one by rebuilding the document. */
const MAX_NUMBER = 8_388_607;

/** Most numbers between the last object and the size that a trailer claims; some readers cannot open a larger one. */
const MAX_GAP = 1 << 20;

function isPlainInteger({ bytes, start, end }: ByteSlice): boolean {
  return /^\+?[0-9]+$/.test(bytes.toString('latin1', start, end));
}

function changedInformation(pair: ObjectComparison, given: ByteSlice | undefined): readonly Change[] {
  const dict = pair.after.pdf.dict(given);
  if (dict === undefined && given !== undefined && !isNull(given))
    return [forbidden('left something else than document information in /Info')];
  const before = pair.before.pdf.dict(pair.before.pdf.xref.trailer.get('Info'));
  const compared = {
    place: 'information',
    what: 'the document information',
    before,
    after: dict,
    below: changedBelow(pair, before),
  } as const;
  return entryChanges(compared, ({ yields }, keys) => {
    // A reference could lead to any object.
    if (keys.some((key) => !isPlain(dict?.get(key))))
      return forbidden('put references into the document information');
    const [kind = 'forbidden'] = yields;
    const which = kind === 'noticed' ? `: /${keys.join(', /')}` : '';
    return { kind, description: `changed the document information${which}` };
  });
}

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
  const below = changedBelow(pair, before);
  const compared = {
    place: 'catalogue',
    what: 'the catalogue',
    before,
    after,
    below: (key: string) => key !== 'AcroForm' && below(key),
    named: (key: string) => `/${key} in the catalogue`,
  } as const;
  return entryChanges(compared, ({ judged, yields: [kind = 'forbidden'] }, keys) => {
    if (judged === 'part') return [];
    if (judged === 'evidence') return changedEvidence(pair, before, after);
    if (judged === 'xmp') return changedMetadata(pair, before, after);
    return keys.map((key): Change => {
      const description = `changed /${key} in the catalogue`;
      const isHarmless =
        judged === 'levels'
          ? raisesLevels(pair, before.get(key), after.get(key))
          : opensUsually(key, after.get(key));
      return isHarmless ? { kind, description } : forbidden(description);
    });
  });
}

/** True for a version, and for a usual part of the window to open with. */
function opensUsually(key: string, value: ByteSlice | undefined): boolean {
  const name = asName(value);
  if (key === 'Version') return name !== undefined;
  return value === undefined || (name !== undefined && MODES.has(name));
}

function changedMetadata({ before, after }: ObjectComparison, old: PdfDict, now: PdfDict): Change {
  const value = now.get('Metadata');
  const dict = asReference(value) === undefined ? undefined : after.pdf.dict(value);
  const isXmp =
    dict !== undefined && asName(dict.get('Type')) === 'Metadata' && asName(dict.get('Subtype')) === 'XML';
  if (!isXmp) return forbidden('changed /Metadata');
  const text = withoutTraces(after.pdf.stream(value));
  const isSame = text !== undefined && text === withoutTraces(before.pdf.stream(old.get('Metadata')));
  return { kind: isSame ? 'trace' : 'noticed', description: 'changed the XMP metadata' };
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

/** True for extensions of the format (7.12) that name all that were there, at their levels or higher ones: programs raise them with evidence. */
function raisesLevels(
  pair: ObjectComparison,
  before: ByteSlice | undefined,
  after: ByteSlice | undefined,
): boolean {
  const value = pair.after.pdf.resolve(after);
  const dict = asDict(value);
  const now = dict === undefined || !isPlain(value) ? undefined : entriesOf(dict);
  if (now === undefined) return false;
  const old = pair.before.pdf.dict(before);
  const isLevel = ([key, one]: readonly [string, ByteSlice]): boolean => {
    const was = old?.get(key);
    if (was !== undefined && equalValues(was, one)) return true;
    if (key === 'Type') return asName(one) === 'Extensions';
    const least = was === undefined ? 0 : highestLevel(was);
    const level = highestLevel(one);
    return level !== undefined && least !== undefined && level >= least;
  };
  return [...now].every(isLevel) && (old?.entries.every((entry) => now.has(old.keyOf(entry))) ?? true);
}

/** Entries of a developer extension, table 50. */
const EXTENSION = new Set(['Type', 'BaseVersion', 'ExtensionLevel', 'URL', 'ExtensionRevision']);

/** Returns the highest version and level that a developer names, as one number; undefined for what is no list of them. */
function highestLevel(value: ByteSlice): number | undefined {
  let highest: number | undefined;
  for (const one of isArray(value) ? items(value) : [value]) {
    const dict = asDict(one);
    const entries = dict && entriesOf(dict);
    const version = /^([12])\.(\d)$/.exec(asName(entries?.get('BaseVersion')) ?? '');
    const level = asInteger(entries?.get('ExtensionLevel')) ?? -1;
    const isKnown = [...(entries?.keys() ?? [])].every((key) => EXTENSION.has(key));
    if (version === null || !isKnown || level < 0 || level >= LEVELS) return undefined;
    highest = Math.max(highest ?? 0, (Number(version[1]) * 10 + Number(version[2])) * LEVELS + level);
  }
  return highest;
}

/** One more than the highest level of an extension; Adobe's are below 12. */
const LEVELS = 100_000;

/** Permits any change of the document security store that keeps its structure valid (12.8.4.3), and tells of what it lost. */
function changedEvidence(pair: ObjectComparison, before: PdfDict, catalog: PdfDict): Change {
  const { pdf } = pair.after;
  const store = catalog.get('DSS');
  if (store === undefined || pdf.dict(store) === undefined)
    return forbidden('left something else than evidence in /DSS');
  if (!isStore(pdf, store)) return forbidden('wrote something else than evidence into /DSS');
  return losesEvidence(pair, before.get('DSS'), store)
    ? { kind: 'evidence-lost', description: 'took evidence out of the file, or exchanged it (DSS)' }
    : { kind: 'evidence', description: 'added evidence (DSS)' };
}

/** True when a value of the earlier store is not in the later one, under any number. */
function losesEvidence(pair: ObjectComparison, old: ByteSlice | undefined, now: ByteSlice): boolean {
  const { before, after } = pair;
  const kept = evidenceIn(after.pdf, now);
  const moved = [...evidenceIn(before.pdf, old)].filter(
    ([number]) => !kept.has(number) || pair.changed(number),
  );
  if (moved.length === 0) return false;
  const known = new Set([...kept.values()].map((item) => digestOfValue(after.pdf, item)));
  return moved.some(([, item]) => !known.has(digestOfValue(before.pdf, item)));
}

/** Digest of a value; undefined for one that can't be read, which proves nothing. */
function digestOfValue(pdf: PdfDocument, item: ByteSlice): string | undefined {
  try {
    const der = pdf.stream(item);
    return der && hash('sha256', der);
  } catch (error) {
    if (error instanceof PdfSyntaxError) return undefined;
    throw error;
  }
}

/** Streams that a store lists, by number. */
function evidenceIn(pdf: PdfDocument, slice: ByteSlice | undefined): ReadonlyMap<number, ByteSlice> {
  const store = pdf.dict(slice);
  const related = pdf.dict(store?.get('VRI'));
  const parts = (related?.entries ?? []).map((entry) => pdf.dict(related?.valueAt(entry)));
  const lists = [
    ...STORED.DSS.map((key) => store?.get(key)),
    ...parts.flatMap((part) => STORED.VRI.map((key) => part?.get(key))),
  ];
  const streams = lists.flatMap((list) => {
    const found = pdf.resolve(list);
    return list !== undefined && !isArray(found) ? [list] : [...items(found)];
  });
  return new Map(
    streams.flatMap((item): [number, ByteSlice][] => {
      const number = asReference(item)?.number;
      return number === undefined ? [] : [[number, item]];
    }),
  );
}

/** Returns the entries of an object when each has a rule. */
function ruledEntries(
  pdf: PdfDocument,
  slice: ByteSlice | undefined,
  place: Place,
): ReadonlyMap<string, ByteSlice> | undefined {
  const dict = pdf.dict(slice);
  const values = dict && entriesOf(dict);
  return values !== undefined && [...values.keys()].every((key) => ruleOf(place, key) !== undefined)
    ? values
    : undefined;
}

function isStore(pdf: PdfDocument, slice: ByteSlice): boolean {
  const values = ruledEntries(pdf, slice, 'evidence store');
  if (values === undefined) return false;
  if (!hasStreams(pdf, values, STORED.DSS)) return false;
  const related = pdf.dict(values.get('VRI'));
  if (!isPlain(values.get('Type'))) return false;
  if (related === undefined) return !values.has('VRI');
  return related.entries.every((entry) => {
    // Some programs write a type among the signatures.
    if (related.keyOf(entry) === 'Type') return asName(related.valueAt(entry)) !== undefined;
    const parts = ruledEntries(pdf, related.valueAt(entry), 'evidence of a signature');
    return (
      parts !== undefined &&
      hasStreams(pdf, parts, STORED.VRI) &&
      ['Type', 'TU'].every((key) => isPlain(parts.get(key))) &&
      (isNull(pdf.resolve(parts.get('TS'))) || isEvidence(pdf, parts.get('TS')))
    );
  });
}

function hasStreams(
  pdf: PdfDocument,
  values: ReadonlyMap<string, ByteSlice>,
  keys: readonly string[],
): boolean {
  return keys.every((key) => {
    const value = values.get(key);
    // Each signature has one policy and one list, and signers leave out the array.
    return isListOfStreams(pdf, value) || (key.startsWith('PBAD_') && isEvidence(pdf, value));
  });
}

function isListOfStreams(pdf: PdfDocument, slice: ByteSlice | undefined): boolean {
  if (slice === undefined || isNull(slice)) return true;
  const list = pdf.resolve(slice);
  if (!isArray(list)) return false;
  return [...items(list)].every((item) => isEvidence(pdf, item));
}

/** True for a stream that could be no content stream, and no form. */
function isEvidence(pdf: PdfDocument, item: ByteSlice | undefined): boolean {
  const number = asReference(item)?.number;
  if (number === undefined || pdf.plainObject(number)?.data === undefined) return false;
  return asDict(pdf.resolve(item))?.get('Subtype') === undefined;
}
