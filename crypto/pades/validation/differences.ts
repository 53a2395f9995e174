/**
 * What a revision changed, found by comparing what the document was made of before with what it is made of after.
 *
 * Everything that can be reached before must still be the same object with the same value, except through a few open
 * doors: the list of fields, the values of fields, the annotations of pages, evidence and metadata. Each door has
 * rules of its own. What an open door leads to is no excuse for an object that is part of something else as well:
 * it is found on the other way to it.
 */
import { asReference, items, type PdfDict, type PdfDocument, referencesIn } from '../../pdf/index.ts';
import { catalogChanges, OPEN_CATALOG_KEYS, trailerChanges } from './catalog-changes.ts';
import { type Change, forbidden } from './change.ts';
import { filledField, OPEN_FIELD_KEYS } from './field-changes.ts';
import { formChanges, OPEN_FORM_KEYS } from './form-changes.ts';
import { changedBelow, type Root } from './frozen-walk.ts';
import { annotationChange, OPEN_PAGE_KEYS, pageChanges, pagePart } from './page-changes.ts';
import type { StatePair } from './state-pair.ts';
import { type Survey, surveyDocument } from './survey.ts';

/** More changes of one revision than this are not told apart. */
const MOST_CHANGES = 50;

/** Steps for what is done with each part of the survey. */
const STEPS_PER_PART = 8;

/** @throws PdfDamage when a state can't be read; OutOfWork */
export function differencesBetween(pair: StatePair): readonly Change[] {
  const survey = surveyDocument(pair.before.pdf);
  const parts = survey.numbers.size + survey.fields.size + survey.annotations.size;
  pair.before.spend(STEPS_PER_PART * parts);
  const exempt = exemption(pair, survey);
  const seen = new Set<number>();
  const frozen = changedBelow(pair, frozenRoots(pair, survey), exempt, seen).map(({ number, place, added }) =>
    forbidden(
      added
        ? `added object ${number}, which ${place} already pointed to`
        : `changed ${place} (object ${number})`,
    ),
  );
  const form = formChanges(pair, survey);
  const changes = [
    ...frozen,
    ...trailerChanges(pair),
    ...catalogChanges(pair),
    ...form.changes,
    ...pageChanges(pair, survey, form.widgets),
    ...changesBelowDoors(pair, survey, form.valued, (number) => seen.has(number) || exempt(number)),
  ];
  if (pair.before.hasOpenStream()) changes.push(forbidden('supplies the end of a stream that was open'));
  const distinct = new Map(changes.map((change) => [change.description, change]));
  return [...distinct.values()].slice(0, MOST_CHANGES);
}

/**
 * Objects compared entry by entry, and so not as a whole. Only entries that mean nothing elsewhere may differ in
 * them, so it does no harm when they are part of something else too. They also end every way in a circle, such as
 * from a page to its parent; what the survey doesn't know is followed like anything else. Lists and streams are never among them.
 */
function exemption(pair: StatePair, survey: Survey): (number: number) => boolean {
  const { pdf } = pair.before;
  const own = new Set<number>();
  for (const piece of [pdf.xref.trailer.get('Root'), pdf.catalog.get('AcroForm')]) {
    const number = asReference(piece)?.number;
    if (number !== undefined) own.add(number);
  }
  return (number) =>
    own.has(number) ||
    survey.numbers.has(number) ||
    survey.fields.has(number) ||
    survey.annotations.has(number);
}

function* frozenRoots(pair: StatePair, survey: Survey): Generator<Root> {
  const { pdf } = pair.before;
  for (const { dict, ordinal } of survey.pages) {
    yield* rootsOf(dict, OPEN_PAGE_KEYS, (key) => `${pagePart(key)} of page ${ordinal}`);
    // Annotations written into the list itself are part of the page.
    for (const item of items(pdf.resolve(dict.get('Annots')))) {
      if (asReference(item) === undefined)
        yield { numbers: referencesIn(item), place: `an annotation of page ${ordinal}` };
    }
  }
  for (const dict of survey.nodes.values()) yield* rootsOf(dict, NONE, (key) => `/${key} of the page tree`);
  yield* rootsOf(pdf.catalog, OPEN_CATALOG_KEYS, (key) => `/${key} in the catalogue`);
  const encryption = pdf.xref.trailer.get('Encrypt');
  if (encryption !== undefined) yield { numbers: referencesIn(encryption), place: 'the encryption' };
  const form = pdf.dict(pdf.catalog.get('AcroForm'));
  if (form !== undefined) yield* formRoots(pdf, form);
  for (const { dict, name, signed } of survey.fields.values()) {
    yield* rootsOf(
      dict,
      signed ? NONE : OPEN_FIELD_KEYS,
      () => `the field ${name}${signed ? ', which is signed' : ''}`,
    );
    yield* memberRoots(pdf, dict, 'Kids', `a part of the field ${name}`);
  }
}

const NONE: ReadonlySet<string> = new Set();

function* rootsOf(dict: PdfDict, open: ReadonlySet<string>, place: (key: string) => string): Generator<Root> {
  for (const entry of dict.entries) {
    const key = dict.keyOf(entry);
    if (open.has(key)) continue;
    const numbers = referencesIn(dict.valueAt(entry));
    if (numbers.length > 0) yield { numbers, place: place(key) };
  }
}

/**
 * The members of a list of fields that may grow. The list is compared by itself; members that are fields of their own
 * are exempt, and what is written into the list itself is part of it.
 */
function* memberRoots(pdf: PdfDocument, dict: PdfDict, list: string, place: string): Generator<Root> {
  for (const entry of dict.entries) {
    if (dict.keyOf(entry) !== list) continue;
    const value = dict.valueAt(entry);
    yield { numbers: referencesIn(pdf.resolve(value)), place };
  }
}

/** The form's own entries; its resources may get new names, but what the old ones name stays. */
function* formRoots(pdf: PdfDocument, form: PdfDict): Generator<Root> {
  yield* rootsOf(form, OPEN_FORM_KEYS, (key) => `/${key} of the form`);
  yield* memberRoots(pdf, form, 'Fields', 'a field written into the form');
  const resources = pdf.dict(form.get('DR'));
  for (const entry of resources?.entries ?? []) {
    const kind = resources?.valueAt(entry);
    const named = pdf.dict(kind);
    const numbers = named !== undefined ? referencesIn(named) : kind === undefined ? [] : referencesIn(kind);
    yield { numbers, place: 'the resources of the form' };
  }
}

/** Objects changed in their place behind the doors: an appearance written over, a value kept in an object of its own. */
function changesBelowDoors(
  pair: StatePair,
  survey: Survey,
  valued: ReadonlySet<string>,
  exempt: (number: number) => boolean,
): readonly Change[] {
  const changes: Change[] = [];
  const changedIn = (dict: PdfDict, keys: (key: string) => boolean): boolean => {
    const numbers = dict.entries.flatMap((entry) =>
      keys(dict.keyOf(entry)) ? referencesIn(dict.valueAt(entry)) : [],
    );
    return changedBelow(pair, [{ numbers, place: '' }], exempt).length > 0;
  };
  for (const field of survey.fields.values()) {
    const { dict, name, signed } = field;
    if (signed || !changedIn(dict, (key) => OPEN_FIELD_KEYS.has(key) && key !== 'Kids')) continue;
    changes.push(filledField(field, valued.has(name)));
  }
  for (const [number, page] of survey.annotations) {
    const dict = pair.before.pdf.dict(pair.before.pdf.object(number));
    if (dict === undefined) continue;
    if (changedIn(dict, (key) => key !== 'AP')) {
      changes.push(forbidden(`changed what an annotation of page ${page.ordinal} leads to`));
    }
    if (changedIn(dict, (key) => key === 'AP')) changes.push(annotationChange(pair, number, page));
  }
  return changes;
}
