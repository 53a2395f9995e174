/**
 * Permitted changes of pages: widgets of signature fields, and annotations where these are
 * permitted (ISO 32000-2, 12.5 and 12.8.2.2).
 */
import {
  asName,
  asReference,
  type ByteSlice,
  entriesOf,
  equalEntries,
  isNull,
  type PdfDict,
  referencesIn,
} from '../../pdf/index.ts';
import { referenceTo, streamsOf } from '../painting/appearance-streams.ts';
import { BLEND_MODES, blendMode } from '../painting/compositing.ts';
import { type Change, forbidden } from './change-policy.ts';
import { type ChangeKind, ruleOf } from './change-rules.ts';
import { annotationKind, type CommentLook, commentLook, isComment, opensWindow } from './comment-marks.ts';
import { changedBelow, entryChanges, isPlain } from './compared-entries.ts';
import { compareList } from './form-changes.ts';
import { newSignatureField } from './new-signature-field.ts';
import type { ObjectComparison } from './object-comparison.ts';
import type { DocumentSurvey, SurveyedPage } from './survey.ts';

/** @param widgets of new signature fields, which may be added */
export function pageChanges(
  pair: ObjectComparison,
  survey: DocumentSurvey,
  widgets: ReadonlySet<number>,
): readonly Change[] {
  const changes: Change[] = [];
  for (const number of survey.nodes.keys()) {
    if (pair.changed(number)) changes.push(forbidden('changed the page tree'));
  }
  for (const page of survey.pages) {
    const dict =
      page.number !== undefined && pair.changed(page.number)
        ? pair.after.pdf.dict(pair.after.pdf.object(page.number))
        : page.dict;
    if (dict === undefined) changes.push(forbidden(`removed page ${page.ordinal}`));
    else changes.push(...changedPage(pair, page, { after: dict, survey, widgets }));
  }
  for (const number of survey.annotations.keys()) {
    if (pair.changed(number)) changes.push(...annotationChanges(pair, number, survey));
  }
  return changes;
}

function changedPage(
  pair: ObjectComparison,
  page: SurveyedPage,
  {
    after,
    survey,
    widgets,
  }: { readonly after: PdfDict; readonly survey: DocumentSurvey; readonly widgets: ReadonlySet<number> },
): readonly Change[] {
  const old = page.dict.get('Annots');
  const now = after.get('Annots');
  const list = asReference(old)?.number;
  const same = after === page.dict && (list === undefined || !pair.changed(list));
  if (same) return [];
  const below = changedBelow(pair, page.dict);
  const compared = {
    place: 'page',
    what: `page ${page.ordinal}`,
    before: page.dict,
    after,
    below: (key: string) => key !== 'Annots' && below(key),
    named: (key: string) => `${pagePart(key)} of page ${page.ordinal}`,
  } as const;
  const changes = [
    ...entryChanges(compared, ({ judged }) => {
      if (judged === 'part') return [];
      const description = `changed /Tabs of page ${page.ordinal}`;
      const tabs = after.get('Tabs');
      const isOrder = tabs === undefined || asName(tabs) !== undefined;
      return isOrder ? { kind: 'metadata', description } : forbidden(description);
    }),
  ];
  const { removed, added } = compareAnnotations(pair, old, now);
  for (const number of removed) changes.push(removedAnnotation(pair, number, page, survey));
  for (const slice of added) changes.push(...addedAnnotation(pair, slice, { page, survey, widgets }));
  return changes;
}

/** Names an entry of a page for people. */
export function pagePart(key: string): string {
  return key === 'Contents' ? 'the content' : key === 'Resources' ? 'the resources' : `/${key}`;
}

/** Compares two lists of annotations: removed items (-1: a direct object) and added ones. */
function compareAnnotations(
  pair: ObjectComparison,
  before: ByteSlice | undefined,
  after: ByteSlice | undefined,
): { readonly removed: readonly number[]; readonly added: readonly ByteSlice[] } {
  const numbers = (state: ObjectComparison['before'], list: ByteSlice | undefined): readonly number[] =>
    referencesIn(state.pdf.resolve(list));
  const kept = new Set(numbers(pair.after, after));
  const removed = numbers(pair.before, before).filter((number) => !kept.has(number));
  const { lost, added } = compareList(pair, before, after, new Set(removed));
  // A removed direct object or a new order changes the stacking of the page.
  return { removed: lost ? [...removed, -1] : removed, added };
}

function removedAnnotation(
  pair: ObjectComparison,
  number: number,
  page: SurveyedPage,
  survey: DocumentSurvey,
): Change {
  const type = survey.fields.has(number) ? 'Widget' : typeOf(pair.before.pdf.object(number), pair.before);
  if (!isComment(type))
    return forbidden(`removed or reordered annotations (${type}) of page ${page.ordinal}`);
  const description = `removed an annotation (${type}) from page ${page.ordinal}`;
  const slice = referenceTo(number, pair.before.pdf);
  return annotation(description, [commentLook(pair, 'before', slice, page)], 'comment-changed');
}

function addedAnnotation(
  pair: ObjectComparison,
  slice: ByteSlice,
  {
    page,
    survey,
    widgets,
  }: { readonly page: SurveyedPage; readonly survey: DocumentSurvey; readonly widgets: ReadonlySet<number> },
): readonly Change[] {
  const number = asReference(slice)?.number;
  if (number !== undefined && widgets.has(number)) return [];
  const type = typeOf(slice, pair.after);
  if (number !== undefined && pair.before.has(number)) {
    return [forbidden(`brought an object that was there before (${type}) onto page ${page.ordinal}`)];
  }
  if (type === 'Widget' && pair.after.pdf.dict(pair.after.pdf.dict(slice)?.get('V')) !== undefined) {
    // Some programs leave the field of their signature out of the form.
    return [newSignatureField(pair, slice, '', survey).change];
  }
  const fault = faultOf(pair, slice, type);
  if (fault !== undefined)
    return [forbidden(`added an annotation (${type}) with ${fault} to page ${page.ordinal}`)];
  const description = `added an annotation (${type}) to page ${page.ordinal}`;
  const look = commentLook(pair, 'after', slice, page);
  const kind = opensWindow(pair, slice, page)
    ? 'comment-window'
    : annotationKind(type) === 'file'
      ? 'comment-file'
      : look.look === 'marks'
        ? 'comment-drawn'
        : 'comment';
  return [annotation(description, [look], kind)];
}

/** @param kind of the change, where nothing is drawn that has to be looked at */
function annotation(description: string, looks: readonly CommentLook[], kind: ChangeKind): Change {
  if (looks.some(({ look }) => look === 'hides')) return forbidden(`${description}, which hides content`);
  if (looks.some(({ look }) => look === 'writes'))
    return forbidden(`${description}, which has text or pictures in its appearance`);
  const [open] = looks.flatMap((one) => (one.look === 'undecided' ? one.reason : []));
  if (open !== undefined)
    return { kind: 'comment-open', description, detail: `${description}, which ${open}` };
  const isDrawn = looks.some(({ look }) => look === 'drawn');
  return { kind: isDrawn && kind === 'comment' ? 'comment-drawn' : kind, description };
}

function typeOf(slice: ByteSlice | undefined, { pdf }: ObjectComparison['before']): string {
  return asName(pdf.resolve(pdf.dict(slice)?.get('Subtype'))) ?? 'of unknown type';
}

/** Returns the changes for an annotation that was replaced or redrawn, on each page that lists it. */
export function annotationChanges(
  pair: ObjectComparison,
  number: number,
  { places }: DocumentSurvey,
): readonly Change[] {
  return [...(places.get(number) ?? [])].map((page) => annotationChange(pair, number, page));
}

function annotationChange(pair: ObjectComparison, number: number, page: SurveyedPage): Change {
  const before = pair.before.pdf.object(number);
  const after = pair.after.pdf.object(number);
  const type = typeOf(before, pair.before);
  const gone = after === undefined || isNull(after);
  const description = `changed an annotation (${type}) of page ${page.ordinal}`;
  const permitted = isComment(type) && (gone || changedOnlyText(pair, before, after, type));
  if (!permitted) return forbidden(description);
  const looks = (['before', 'after'] as const).map((state) =>
    commentLook(pair, state, referenceTo(number, pair[state].pdf), page),
  );
  const kind = opensWindow(pair, referenceTo(number, pair.after.pdf), page)
    ? 'comment-window'
    : isQuietChange(pair.before.pdf.dict(before), pair.after.pdf.dict(after))
      ? 'comment'
      : 'comment-changed';
  return annotation(description, looks, kind);
}

/** Entries of a comment whose change no reader notices. A window that is closed hides nothing. */
const QUIET_KEYS: ReadonlySet<string> = new Set(['M', 'NM', 'Open']);

function isQuietChange(before: PdfDict | undefined, after: PdfDict | undefined): boolean {
  if (before === undefined || after === undefined) return false;
  const keys = [before, after].flatMap((dict) => dict.entries.map((entry) => dict.keyOf(entry)));
  return keys.every((key) => QUIET_KEYS.has(key) || equalEntries(key, before.get(key), after.get(key)));
}

/** True when only entries changed that editors change in a comment; they have no meaning in other objects. */
function changedOnlyText(
  pair: ObjectComparison,
  before: ByteSlice | undefined,
  after: ByteSlice,
  type: string,
): boolean {
  const old = pair.before.pdf.dict(before);
  const now = pair.after.pdf.dict(after);
  if (old === undefined || now === undefined || faultOf(pair, after, type) !== undefined) return false;
  const compared = { place: 'comment', what: 'the comment', before: old, after: now } as const;
  const changes = entryChanges(compared, (_rule, keys) =>
    keys.every((key) => key === 'AP' || isPlain(now.get(key)))
      ? { kind: 'comment', description: 'changed a comment' }
      : forbidden('put references into a comment'),
  );
  return changes.every(({ kind }) => kind === 'comment');
}

function faultOf(pair: ObjectComparison, slice: ByteSlice, type: string): string | undefined {
  const { pdf } = pair.after;
  if (!isComment(type)) return 'a type that can cover content';
  const dict = pdf.dict(slice);
  const values = dict && entriesOf(dict);
  if (values === undefined) return 'a key written twice';
  const odd = [...values.keys()].find((key) => ruleOf('new comment', key) === undefined);
  if (odd !== undefined) return `an entry /${odd}`;
  const mode = values.has('BM') ? blendMode(pdf, pdf.resolve(values.get('BM'))) : 'Normal';
  if (!['paints', 'darkens'].includes(BLEND_MODES[mode] ?? ''))
    return 'a blend mode that changes what is below';
  const streams = streamsOf(pdf, values.get('AP'));
  return streams === undefined ? 'an unusual appearance' : undefined;
}
