/**
 * Finds the changes of a revision by comparing the objects before and after it.
 *
 * Every object reachable before must still be the same object with the same value, except through the permitted entry
 * points: the list of fields, the values of fields, the annotations of pages, evidence and metadata. Each entry point
 * has rules of its own. An object behind an entry point that is also part of another object
 * is still compared as part of that one.
 */
import { asReference, items, type PdfDict, type PdfDocument, referencesIn } from '../../pdf/index.ts';
import { catalogChanges, trailerChanges } from './catalog-changes.ts';
import { type Change, forbidden, severityOf } from './change-policy.ts';
import { type Place, ruleOf } from './change-rules.ts';
import { changedBelow } from './compared-entries.ts';
import { placeOf } from './field-changes.ts';
import { formChanges } from './form-changes.ts';
import { changedObjectsBelow, type ObjectComparison, type Root } from './object-comparison.ts';
import { annotationChanges, pageChanges, pagePart } from './page-changes.ts';
import { structureChanges } from './structure-changes.ts';
import { type DocumentSurvey, surveyDocument } from './survey.ts';

/** Steps for each object of the survey. */
const STEPS_PER_PART = 8;

/** @throws PdfSyntaxError when a state can't be read; WorkBudgetExceeded */
export function differencesBetween(pair: ObjectComparison): readonly Change[] {
  const survey = surveyDocument(pair.before.pdf);
  const parts = survey.numbers.size + survey.fields.size + survey.annotations.size;
  pair.before.spend(STEPS_PER_PART * parts);
  const isPart = exemption(pair, survey);
  const structure = structureChanges(pair, isPart);
  const exempt = (number: number): boolean => isPart(number) || structure.compared.has(number);
  const seen = new Set<number>();
  const frozen = changedObjectsBelow(pair, lockedRoots(pair, survey), exempt, seen).map(
    ({ number, place, added }) =>
      forbidden(
        added
          ? `added object ${number}, which ${place} already pointed to`
          : `changed ${place} (object ${number})`,
      ),
  );
  const isJudged = (number: number): boolean => seen.has(number) || exempt(number);
  const form = formChanges(pair, survey, isJudged);
  const changes = [
    ...frozen,
    ...trailerChanges(pair),
    ...catalogChanges(pair),
    ...structure.changes,
    ...form.changes,
    ...pageChanges(pair, survey, form.widgets),
    ...changesBelowComments(pair, survey, isJudged),
  ];
  if (pair.before.hasOpenStream()) changes.push(forbidden('supplies the end of a stream that was open'));
  return worstOfEach(changes);
}

/** Returns one change for each description: the one that the fewest signatures permit without a warning. */
function worstOfEach(changes: readonly Change[]): readonly Change[] {
  const worst = new Map<string, Change>();
  for (const change of changes) {
    const known = worst.get(change.description);
    if (known === undefined || severityOf(change) > severityOf(known)) worst.set(change.description, change);
  }
  return [...worst.values()];
}

/**
 * Selects the objects compared entry by entry instead of as a whole. The entries that may differ have no meaning in
 * other contexts, so an object shared with another part is safe. These objects also end cycles, such as
 * from a page to its parent; other objects are followed. Lists and streams are never exempt.
 */
function exemption(pair: ObjectComparison, survey: DocumentSurvey): (number: number) => boolean {
  const { pdf } = pair.before;
  const own = new Set<number>();
  for (const slice of [pdf.xref.trailer.get('Root'), pdf.catalog.get('AcroForm')]) {
    const number = asReference(slice)?.number;
    if (number !== undefined) own.add(number);
  }
  return (number) =>
    own.has(number) ||
    survey.numbers.has(number) ||
    survey.fields.has(number) ||
    survey.annotations.has(number);
}

function* lockedRoots(pair: ObjectComparison, survey: DocumentSurvey): Generator<Root> {
  const { pdf } = pair.before;
  for (const { dict, ordinal } of survey.pages) {
    yield* rootsOf(dict, 'page', (key) => `${pagePart(key)} of page ${ordinal}`);
    // Direct objects in /Annots are part of the page.
    for (const item of items(pdf.resolve(dict.get('Annots')))) {
      if (asReference(item) === undefined)
        yield { numbers: referencesIn(item), place: `an annotation of page ${ordinal}` };
    }
  }
  for (const dict of survey.nodes.values())
    yield* rootsOf(dict, 'page tree', (key) => `/${key} of the page tree`);
  yield* rootsOf(pdf.catalog, 'catalogue', (key) => `/${key} in the catalogue`);
  const encryption = pdf.xref.trailer.get('Encrypt');
  if (encryption !== undefined) yield { numbers: referencesIn(encryption), place: 'the encryption' };
  const form = pdf.dict(pdf.catalog.get('AcroForm'));
  if (form !== undefined) yield* formRoots(pdf, form);
  for (const field of survey.fields.values()) {
    const { dict, name, signed } = field;
    yield* rootsOf(dict, placeOf(field), () => `the field ${name}${signed ? ', which is signed' : ''}`);
    yield* memberRoots(pdf, dict, 'Kids', `a part of the field ${name}`);
  }
}

/** Returns what entries lead to that have no rule: it must stay. */
function* rootsOf(dict: PdfDict, place: Place, named: (key: string) => string): Generator<Root> {
  for (const entry of dict.entries) {
    const key = dict.keyOf(entry);
    if (ruleOf(place, key) !== undefined) continue;
    const numbers = referencesIn(dict.valueAt(entry));
    if (numbers.length > 0) yield { numbers, place: named(key) };
  }
}

/**
 * Returns the members of a list of fields that may grow. The list itself is compared separately; members that are
 * fields are exempt, and direct objects in the list are part of it.
 */
function* memberRoots(pdf: PdfDocument, dict: PdfDict, list: string, place: string): Generator<Root> {
  for (const entry of dict.entries) {
    if (dict.keyOf(entry) !== list) continue;
    const value = dict.valueAt(entry);
    yield { numbers: referencesIn(pdf.resolve(value)), place };
  }
}

/** Returns the form's own entries; resources may get new names, but the objects under existing names must stay. */
function* formRoots(pdf: PdfDocument, form: PdfDict): Generator<Root> {
  yield* rootsOf(form, 'form', (key) => `/${key} of the form`);
  yield* memberRoots(pdf, form, 'Fields', 'a field written into the form');
  const resources = pdf.dict(form.get('DR'));
  for (const entry of resources?.entries ?? []) {
    const kind = resources?.valueAt(entry);
    const named = pdf.dict(kind);
    const numbers = named !== undefined ? referencesIn(named) : kind === undefined ? [] : referencesIn(kind);
    yield { numbers, place: 'the resources of the form' };
  }
}

/** Finds objects changed in place below annotations: a rewritten appearance, the action of a link. */
function changesBelowComments(
  pair: ObjectComparison,
  survey: DocumentSurvey,
  isJudged: (number: number) => boolean,
): readonly Change[] {
  const changes: Change[] = [];
  for (const [number, page] of survey.annotations) {
    const dict = pair.before.pdf.dict(pair.before.pdf.object(number));
    if (dict === undefined) continue;
    const below = changedBelow(pair, dict, isJudged);
    const keys = dict.entries.map((entry) => dict.keyOf(entry)).filter(below);
    if (keys.includes('AP')) changes.push(...annotationChanges(pair, number, survey));
    if (keys.some((key) => key !== 'AP'))
      changes.push(forbidden(`changed what an annotation of page ${page.ordinal} leads to`));
  }
  return changes;
}
