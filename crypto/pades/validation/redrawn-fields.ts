/**
 * Finds fields that are drawn otherwise though nothing in them changed: by entries of the form, or of a field above
 * (ISO 32000-2, 12.7.3 and 12.7.4.3).
 */
import {
  asName,
  asReference,
  equalValues,
  inheritedByField,
  items,
  type PdfDocument,
} from '../../pdf/index.ts';
import type { AppearanceJudgement } from '../shown-values/appearance-judgement.ts';
import { type Change, forbidden } from './change-policy.ts';
import { changedBelow } from './compared-entries.ts';
import { filledField } from './field-changes.ts';
import { drawingOf, redrawnBy } from './field-drawing.ts';
import { judgeRedrawn } from './filled-appearance.ts';
import type { ObjectComparison } from './object-comparison.ts';
import type { DocumentSurvey, SurveyedField, SurveyedPage } from './survey.ts';

/** Entries of the form with which viewers draw. */
const DRAWING_KEYS = ['DA', 'DR', 'Q', 'NeedAppearances'];

const DRAWS_LOOK: ReadonlySet<string> = new Set(['look', 'either']);

/** A field, or a widget that no field lists, on its pages; undefined for a field on none. */
interface PlacedWidget {
  readonly field: SurveyedField;
  readonly pages: ReadonlySet<SurveyedPage> | undefined;
}

/**
 * @param valued names of the fields whose value changed
 * @param judged numbers of the fields whose look was judged by a change of their own entries
 */
export function redrawnFields(
  pair: ObjectComparison,
  survey: DocumentSurvey,
  valued: ReadonlySet<string>,
  judged: ReadonlySet<number>,
): readonly Change[] {
  if (valued.size === 0 && !drawsOtherwise(pair)) return [];
  const changes: Change[] = [];
  for (const { field, pages } of shownWidgets(pair.before.pdf, survey)) {
    pair.before.spend(1);
    if (judged.has(field.number)) continue;
    if (valued.has(field.name)) {
      // The value of a button selects no other state of its parts by itself.
      if (field.type !== 'Sig' && (field.type !== 'Btn' || field.dict.get('T') !== undefined))
        changes.push(filledField(pair, survey, field, true));
      continue;
    }
    if (pages === undefined) continue;
    const after = field.number >= 0 ? pair.after.pdf.dict(pair.after.pdf.object(field.number)) : field.dict;
    if (after === undefined) continue;
    const old = drawingOf(pair.before.pdf, field.dict, field.type);
    const now = drawingOf(pair.after.pdf, after, field.type);
    const part = redrawnBy(pair, old, now);
    if (part === undefined) continue;
    const isByBoth = old.drawer !== now.drawer && [old, now].every(({ drawer }) => DRAWS_LOOK.has(drawer));
    changes.push(
      isByBoth
        ? redrawnField(field, judgeRedrawn(pair, field, after, pages))
        : forbidden(`draws the field ${field.name} otherwise, without another value (${part})`),
    );
  }
  return changes;
}

function redrawnField({ name }: SurveyedField, judged: AppearanceJudgement): Change {
  const description = `draws the field ${name} anew`;
  if (judged.status === 'forbidden') return forbidden(`${description}, whose look ${judged.reason}`);
  if (judged.status === 'faithful') return { kind: 'redrawn', field: name, description };
  return { kind: 'fill-open', field: name, description, detail: `The field ${name} ${judged.reason}.` };
}

/** True when an entry of the form changed with which viewers draw fields. */
function drawsOtherwise(pair: ObjectComparison): boolean {
  const [old, now] = [pair.before, pair.after].map(({ pdf }) => pdf.dict(pdf.catalog.get('AcroForm')));
  return DRAWING_KEYS.some((key) => {
    const before = old?.get(key);
    const after = now?.get(key);
    return !equalValues(before, after) || changedBelow(pair, old)(key);
  });
}

/** Lists the fields, and the widgets on pages that belong to no field of the form. */
function* shownWidgets(pdf: PdfDocument, survey: DocumentSurvey): Generator<PlacedWidget> {
  for (const field of survey.fields.values()) yield { field, pages: survey.places.get(field.number) };
  for (const page of survey.pages) {
    for (const item of items(pdf.resolve(page.dict.get('Annots')))) {
      const number = asReference(item)?.number;
      if (number !== undefined && survey.fields.has(number)) continue;
      const dict = pdf.dict(item);
      if (dict === undefined || asName(pdf.resolve(dict.get('Subtype'))) !== 'Widget') continue;
      const type = asName(pdf.resolve(inheritedByField(pdf, dict, 'FT')));
      const name = `on page ${page.ordinal}`;
      yield {
        field: { number: number ?? -1, dict, name, type, signed: false },
        pages: new Set([page]),
      };
    }
  }
}
