/**
 * What a later revision may do to pages: put widgets of signature fields on them, and annotations where these are
 * allowed (ISO 32000-2, 12.5 and 12.8.2.2).
 */
import {
  asName,
  asReference,
  entriesOf,
  equalValues,
  isNull,
  type PdfDict,
  type Piece,
  referencesIn,
} from '../../pdf/index.ts';
import { streamsOf } from './appearance.ts';
import { changedKeys } from './catalog-changes.ts';
import { type Change, forbidden } from './change.ts';
import { compareList } from './form-changes.ts';
import type { StatePair } from './state-pair.ts';
import type { Survey, SurveyedPage } from './survey.ts';

/** Entries of a page that are compared by what they mean: /Tabs is an order of fields and shows nothing. */
export const OPEN_PAGE_KEYS: ReadonlySet<string> = new Set(['Annots', 'Tabs']);

/**
 * Annotations that comment on content without standing in its place. Free text, stamps, redactions, shapes and
 * pictures can hide what was certified or write something else over it, so nothing allows adding these.
 */
const COMMENTS: ReadonlySet<string> = new Set([
  'Text',
  'Popup',
  'Highlight',
  'Underline',
  'Squiggly',
  'StrikeOut',
  'Caret',
  'FileAttachment',
]);

/** What an annotation may have, or change: nothing that acts or leads elsewhere. */
const COMMENT_KEYS: ReadonlySet<string> = new Set(
  [
    'Type',
    'Subtype',
    'Rect',
    'Contents',
    'P',
    'NM',
    'M',
    'F',
    'AP',
    'AS',
    'Border',
    'C',
    'CA',
    'T',
    'Popup',
  ].concat(
    [
      'RC',
      'CreationDate',
      'IRT',
      'Subj',
      'RT',
      'IT',
      'QuadPoints',
      'Name',
      'Open',
      'Parent',
      'State',
      'StateModel',
    ],
    ['Lang', 'BS', 'RD', 'Sy', 'FS', 'BM'],
  ),
);

/** @param widgets of new signature fields that may be added */
export function pageChanges(
  pair: StatePair,
  survey: Survey,
  widgets: ReadonlySet<number>,
): readonly Change[] {
  const changes: Change[] = [];
  for (const number of survey.nodes.keys()) {
    if (pair.changed(number)) changes.push(forbidden('changed the page tree'));
  }
  for (const page of survey.pages) {
    const dict = pair.changed(page.number)
      ? pair.after.pdf.dict(pair.after.pdf.object(page.number))
      : page.dict;
    if (dict === undefined) changes.push(forbidden(`removed page ${page.ordinal}`));
    else changes.push(...changedPage(pair, page, dict, survey, widgets));
  }
  for (const [number, page] of survey.annotations) {
    if (pair.changed(number)) changes.push(annotationChange(pair, number, page));
  }
  return changes;
}

function changedPage(
  pair: StatePair,
  page: SurveyedPage,
  after: PdfDict,
  survey: Survey,
  widgets: ReadonlySet<number>,
): readonly Change[] {
  const [old, now] = [page.dict.get('Annots'), after.get('Annots')];
  const list = asReference(old)?.number;
  const same = after === page.dict && (list === undefined || !pair.changed(list));
  if (same) return [];
  const changes: Change[] = changedKeys(page.dict, after, OPEN_PAGE_KEYS).map((key) =>
    forbidden(
      key.startsWith('w')
        ? `wrote a key of page ${page.ordinal} twice`
        : `changed ${pagePart(key)} of page ${page.ordinal}`,
    ),
  );
  const tabs = after.get('Tabs');
  if (tabs !== undefined && !equalValues(page.dict.get('Tabs'), tabs) && asName(tabs) === undefined) {
    changes.push(forbidden(`changed /Tabs of page ${page.ordinal}`));
  }
  const { removed, added } = compareAnnotations(pair, old, now);
  for (const number of removed) changes.push(removedAnnotation(pair, number, page, survey));
  for (const piece of added) changes.push(...addedAnnotation(pair, piece, page, survey, widgets));
  return changes;
}

/** An entry of a page, for people. */
export function pagePart(key: string): string {
  return key === 'Contents' ? 'the content' : key === 'Resources' ? 'the resources' : `/${key}`;
}

/** Which items of the older list are gone (-1: one that is no reference), and which are new. */
function compareAnnotations(
  pair: StatePair,
  before: Piece | undefined,
  after: Piece | undefined,
): { readonly removed: readonly number[]; readonly added: readonly Piece[] } {
  const { lost, added } = compareList(pair, before, after);
  if (!lost) return { removed: [], added };
  const numbers = (state: StatePair['before'], list: Piece | undefined): readonly number[] =>
    referencesIn(state.pdf.resolve(list));
  const kept = new Set(numbers(pair.after, after));
  const removed = numbers(pair.before, before).filter((number) => !kept.has(number));
  // Something else than a whole reference went, or the order changed: what lies above what is part of the page.
  return { removed: removed.length > 0 ? removed : [-1], added };
}

function removedAnnotation(pair: StatePair, number: number, page: SurveyedPage, survey: Survey): Change {
  const type = survey.fields.has(number) ? 'Widget' : typeOf(pair.before.pdf.object(number), pair.before);
  return COMMENTS.has(type)
    ? { kind: 'annotation', description: `removed an annotation (${type}) from page ${page.ordinal}` }
    : forbidden(`removed or reordered annotations (${type}) of page ${page.ordinal}`);
}

function addedAnnotation(
  pair: StatePair,
  piece: Piece,
  page: SurveyedPage,
  survey: Survey,
  widgets: ReadonlySet<number>,
): readonly Change[] {
  const number = asReference(piece)?.number;
  if (number !== undefined && widgets.has(number)) return [];
  if (number !== undefined && survey.annotations.get(number) === page) return [];
  const type = typeOf(piece, pair.after);
  if (number !== undefined && pair.before.has(number)) {
    return [forbidden(`brought an object that was there before (${type}) onto page ${page.ordinal}`)];
  }
  const fault = faultOf(pair, piece, type);
  return [
    fault === undefined
      ? { kind: 'annotation', description: `added an annotation (${type}) to page ${page.ordinal}` }
      : forbidden(`added an annotation (${type}) with ${fault} to page ${page.ordinal}`),
  ];
}

function typeOf(piece: Piece | undefined, { pdf }: StatePair['before']): string {
  return asName(pdf.resolve(pdf.dict(piece)?.get('Subtype'))) ?? 'of unknown type';
}

/** What to call it that an annotation became another one, or is drawn differently. */
export function annotationChange(pair: StatePair, number: number, page: SurveyedPage): Change {
  const before = pair.before.pdf.object(number);
  const after = pair.after.pdf.object(number);
  const type = typeOf(before, pair.before);
  const gone = after === undefined || isNull(after);
  const description = `changed an annotation (${type}) of page ${page.ordinal}`;
  const permitted = COMMENTS.has(type) && (gone || changedOnlyText(pair, before, after, type));
  return permitted ? { kind: 'annotation', description } : forbidden(description);
}

/** What editors change in a comment; none of it means anything in another kind of object. */
const TEXT_KEYS = [
  'Contents',
  'RC',
  'M',
  'NM',
  'T',
  'C',
  'Subj',
  'AS',
  'State',
  'StateModel',
  'Open',
  'F',
  'Rect',
];
const CHANGEABLE: ReadonlySet<string> = new Set([...TEXT_KEYS, 'QuadPoints', 'AP']);

function changedOnlyText(pair: StatePair, before: Piece | undefined, after: Piece, type: string): boolean {
  const old = pair.before.pdf.dict(before);
  const now = pair.after.pdf.dict(after);
  if (old === undefined || now === undefined || faultOf(pair, after, type) !== undefined) return false;
  if (changedKeys(old, now, CHANGEABLE).length > 0) return false;
  return [...CHANGEABLE].every((key) => {
    const value = now.get(key);
    return (
      value === undefined ||
      key === 'AP' ||
      equalValues(old.get(key), value) ||
      referencesIn(value).length === 0
    );
  });
}

function faultOf(pair: StatePair, piece: Piece, type: string): string | undefined {
  const { pdf } = pair.after;
  if (!COMMENTS.has(type)) return 'a type that can cover content';
  const dict = pdf.dict(piece);
  const values = dict && entriesOf(dict);
  if (values === undefined) return 'a key written twice';
  const odd = [...values.keys()].find((key) => !COMMENT_KEYS.has(key));
  if (odd !== undefined) return `an entry /${odd}`;
  const streams = streamsOf(pdf, values.get('AP'));
  if (streams === undefined) return 'an unusual appearance';
  return streams.every((number) => drawsOnlyLines(pair, number))
    ? undefined
    : 'text or pictures in its appearance';
}

/** Forms inside forms of an appearance: editors write two or three. */
const MOST_NESTED = 8;

/**
 * An appearance without text and pictures can mark content and not speak in its place. One without resources of its
 * own would use those of the page.
 */
function drawsOnlyLines(pair: StatePair, number: number, nested = 0): boolean {
  const { pdf } = pair.after;
  const form = pdf.dict(pdf.object(number));
  const resources = pdf.dict(form?.get('Resources'));
  if (resources === undefined || nested > MOST_NESTED) return false;
  for (const key of ['Font', 'Pattern', 'Shading']) {
    const entries = pdf.dict(resources.get(key));
    if (entries !== undefined && entries.entries.length > 0) return false;
  }
  // A picture can stand in the content itself (8.9.7).
  if (/(^|\s)BI\s/.test(pdf.stream(referenceTo(number))?.toString('latin1') ?? 'BI ')) return false;
  const inner = pdf.dict(resources.get('XObject'));
  return (inner?.entries ?? []).every((entry) => {
    const value = inner?.valueAt(entry);
    const own = asReference(value)?.number;
    return (
      own !== undefined &&
      asName(pdf.dict(value)?.get('Subtype')) === 'Form' &&
      drawsOnlyLines(pair, own, nested + 1)
    );
  });
}

function referenceTo(number: number): Piece {
  const bytes = Buffer.from(`${number} 0 R`, 'latin1');
  return { bytes, at: -1, start: 0, end: bytes.length };
}
