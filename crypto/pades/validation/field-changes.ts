/**
 * Permitted changes of existing fields: fill in, sign, lock (ISO 32000-2, 12.7.4 and
 * 12.8.2.2).
 */
import {
  asInteger,
  asName,
  asReference,
  type ByteSlice,
  equalValues,
  inheritedByField,
  isArray,
  type PdfDict,
  type PdfDocument,
  referencesIn,
} from '../../pdf/index.ts';
import { hasOnlyStreams } from '../painting/appearance-streams.ts';
import type { Covered } from '../painting/covered-content.ts';
import type { AppearanceJudgement } from '../shown-values/appearance-judgement.ts';
import { type Change, forbidden } from './change-policy.ts';
import { entryChanges } from './compared-entries.ts';
import { drawingOf, judgeFrame, redrawnBy } from './field-drawing.ts';
import { coveredBySignature, judgeAppearance } from './filled-appearance.ts';
import type { ObjectComparison } from './object-comparison.ts';
import type { DocumentSurvey, SurveyedField } from './survey.ts';

/** Flag ReadOnly (table 228). */
const READ_ONLY = 1;

/** Returns the names of fields whose value changed, here or above: the appearance of their widgets may change. */
export function valuedFields(pair: ObjectComparison, survey: DocumentSurvey): ReadonlySet<string> {
  const valued = new Set<string>();
  for (const { number, dict, name, type } of survey.fields.values()) {
    const after = pair.changed(number) ? pair.after.pdf.dict(pair.after.pdf.object(number)) : dict;
    const old = inheritedByField(pair.before.pdf, dict, 'V');
    const now = after && inheritedByField(pair.after.pdf, after, 'V');
    const below = old === undefined ? [] : referencesIn(old);
    // The appearance state of a button widget is its value.
    const isSwitched = type === 'Btn' && !equalValues(dict.get('AS'), after?.get('AS'));
    if (isSwitched || !equalValues(old, now) || below.some((reference) => pair.changed(reference)))
      valued.add(name);
  }
  return valued;
}

/** Returns the rows that hold for a field. */
export function placeOf({ type, signed }: SurveyedField): 'field' | 'empty signature field' | 'signed field' {
  return signed ? 'signed field' : type === 'Sig' ? 'empty signature field' : 'field';
}

/**
 * @param below tells for an entry whether an object below its earlier value changed
 * @param valued true when the value changed, here or in a field above
 */
export function changedField(
  pair: ObjectComparison,
  survey: DocumentSurvey,
  { field, after, below, valued }: FieldComparison,
): readonly Change[] {
  const { name, dict: before, signed } = field;
  const what = signed ? `the field ${name}, which is signed` : `the field ${name}`;
  const { pdf } = pair.after;
  const differs = (key: string): boolean => !equalValues(before.get(key), after.get(key)) || below(key);
  return entryChanges({ place: placeOf(field), what, before, after, below }, ({ judged }, keys) => {
    if (judged === 'part') return [];
    if (judged === 'read-only') return madeReadOnly(field, after.get('Ff'));
    if (differs('AP') && !hasOnlyStreams(pdf, after.get('AP')))
      return forbidden(`gave ${what} an unusual appearance`);
    if (keys.some((key) => !PARTS.has(key) && !isSimple(pdf, after.get(key), 0)))
      return forbidden(`gave ${what} an unusual state`);
    if (field.type === 'Sig' && differs('V')) return signedField(pair, survey, field, after.get('V'));
    const isUsual = (key: string): boolean =>
      !differs(key) || isSimple(pdf, after.get(key)) || isNewText(pair, after.get(key));
    if (field.type !== 'Sig' && !['V', 'RV'].every(isUsual))
      return forbidden(`gave ${what} an unusual value`);
    if (!valued && judged === 'plain')
      return { kind: 'entry', field: name, description: `changed /${keys.join(', /')} of ${what}` };
    if (!valued && judged === 'seen') return shownOrHidden(pair, field, after);
    if (!valued && judged === 'style')
      return forbidden(`changed how ${what} is drawn, without another value (/${keys.join(', /')})`);
    const filled = filledField(pair, survey, field, valued);
    return keys.includes('MK') ? worse(filled, field, judgeFrame(pair, field, after)) : filled;
  });
}

/** Adds what is said of the frame of a field to what its look is judged as. */
function worse(filled: Change, { name }: SurveyedField, frame: AppearanceJudgement): Change {
  if (frame.status === 'forbidden')
    return forbidden(`changed /MK of the field ${name}, which ${frame.reason}`);
  if (frame.status === 'faithful' || filled.kind !== 'fill') return filled;
  return { ...filled, kind: 'fill-open', detail: `The field ${name} ${frame.reason}.` };
}

/** An existing field after a change. */
interface FieldComparison {
  readonly field: SurveyedField;
  readonly after: PdfDict;
  readonly below: (key: string) => boolean;
  readonly valued: boolean;
}

/** Entries with parts of their own. */
const PARTS: ReadonlySet<string> = new Set(['AP', 'V', 'RV', 'Lock', 'MK']);

function madeReadOnly({ name, dict }: SurveyedField, flags: ByteSlice | undefined): Change {
  const locks = ((asInteger(dict.get('Ff')) ?? 0) | READ_ONLY) === asInteger(flags);
  return locks
    ? { kind: 'metadata', description: `made the field ${name} read-only` }
    : forbidden(`changed the flags of the field ${name}`);
}

/** Judges other flags of an empty signature field: what it draws may neither come to light nor vanish. */
function shownOrHidden(pair: ObjectComparison, { name, dict, type }: SurveyedField, after: PdfDict): Change {
  const old = drawingOf(pair.before.pdf, dict, type);
  const now = drawingOf(pair.after.pdf, after, type);
  return redrawnBy(pair, old, now) === undefined
    ? {
        kind: 'entry',
        field: name,
        description: `changed the flags of the field ${name}, which draws nothing`,
      }
    : forbidden(`changed the flags of the field ${name}, which show or hide what it draws`);
}

/** Judges a field or widget with a new appearance: only a changed value makes it a form fill. */
export function filledField(
  pair: ObjectComparison,
  survey: DocumentSurvey,
  field: SurveyedField,
  valued: boolean,
): Change {
  const { places } = survey;
  const { name, type, number } = field;
  if (!valued) return forbidden(`gave the field ${name} another look without another value`);
  if (type === 'Sig') {
    const covered = coveredBySignature(pair, number, places.get(number), field);
    return signatureChange({ field: name, covered, description: `drew the signature in the field ${name}` });
  }
  const description = `filled in the field ${name}`;
  const judged = judgeAppearance(pair, field, places.get(number));
  if (judged.status === 'forbidden')
    return forbidden(`gave the field ${name} an appearance that ${judged.reason}`);
  if (judged.status === 'faithful') return { kind: 'fill', field: name, description };
  const detail = `The appearance of the filled field ${name} ${judged.reason}.`;
  return { kind: 'fill-open', field: name, description, detail };
}

interface SignatureInfo {
  readonly field: string;
  readonly covered: Covered;
  readonly description: string;
  readonly signs?: true;
  readonly isNew?: true;
  /** True for a new field with a place on a page. */
  readonly isVisible?: boolean;
}

/** Classifies a signature, or a field for one, by what it covers on the page. */
export function signatureChange({ covered, isVisible, ...change }: SignatureInfo): Change {
  if (covered === 'content') return { kind: 'signature-hides', ...change };
  if (covered === 'look')
    return {
      kind: 'signature-over-look',
      ...change,
      detail: `${change.description}: it lies over the look of an earlier one`,
    };
  const isOver = covered !== 'nothing';
  const where = covered === 'image' ? 'it lies over a picture' : 'what is below it cannot be read';
  const detail = isOver ? { detail: `${change.description}: ${where}` } : {};
  if (isVisible === true)
    return { kind: isOver ? 'new-signature-over' : 'new-signature', ...change, ...detail };
  return { kind: isOver ? 'signature-over' : 'signature', ...change, ...detail };
}

/** True for a signature dictionary: fonts, images and forms are streams or have a subtype. */
export function isSignature(pdf: PdfDocument, number: number, dict: PdfDict): boolean {
  const type = asName(pdf.resolve(dict.get('Type')));
  if (type !== undefined && type !== 'Sig' && type !== 'DocTimeStamp') return false;
  return dict.get('Subtype') === undefined && pdf.plainObject(number)?.data === undefined;
}

function signedField(
  pair: ObjectComparison,
  { places }: DocumentSurvey,
  field: SurveyedField,
  value: ByteSlice | undefined,
): Change {
  const { name } = field;
  const { pdf } = pair.after;
  const number = asReference(value)?.number;
  const dict = pdf.dict(value);
  if (dict === undefined || number === undefined || !isSignature(pdf, number, dict)) {
    return forbidden(`wrote no signature into the field ${name}`);
  }
  if (pair.before.has(number)) return forbidden(`put an older object into the field ${name}`);
  const covered = coveredBySignature(pair, field.number, places.get(field.number), field);
  return signatureChange({ field: name, signs: true, covered, description: `signed the field ${name}` });
}

/** True for a new stream without a type, as text may be stored (table 226). */
function isNewText({ before, after: { pdf } }: ObjectComparison, value: ByteSlice | undefined): boolean {
  const number = asReference(value)?.number;
  if (value === undefined || number === undefined || before.has(number)) return false;
  const dict = pdf.dict(value);
  return (
    dict?.get('Type') === undefined && dict?.get('Subtype') === undefined && pdf.stream(value) !== undefined
  );
}

/**
 * True for text, numbers, names and lists of them: another object could have a meaning for other references to it.
 * @param steps most references to follow
 */
function isSimple(pdf: PdfDocument, slice: ByteSlice | undefined, steps = 1): boolean {
  if (slice === undefined) return true;
  if (asReference(slice) !== undefined && steps === 0) return false;
  const value = pdf.resolve(slice);
  return pdf.dict(value) === undefined && (!isArray(value) || referencesIn(value).length === 0);
}
