/**
 * Permitted changes of existing fields: fill in, sign, lock (ISO 32000-2, 12.7.4 and
 * 12.8.2.2).
 */
import {
  asInteger,
  asName,
  asReference,
  type ByteSlice,
  entriesOf,
  equalValues,
  isArray,
  items,
  type PdfDict,
  type PdfDocument,
  referencesIn,
} from '../../pdf/index.ts';
import { hasOnlyStreams } from '../painting/appearance-streams.ts';
import type { Covered } from '../painting/covered-content.ts';
import { changedKeys } from './catalog-changes.ts';
import { type Change, forbidden } from './change-policy.ts';
import { coveredBySignature, judgeAppearance } from './filled-appearance.ts';
import type { ObjectComparison } from './object-comparison.ts';
import type { DocumentSurvey, SurveyedField } from './survey.ts';

/** Entries that filling in a field may change besides its value: appearance and the read-only flag. */
export const OPEN_FIELD_KEYS: ReadonlySet<string> = new Set([
  'V',
  'AP',
  'AS',
  'RV',
  'I',
  'TI',
  'M',
  'Ff',
  'F',
  'Kids',
]);

/** Flag ReadOnly (table 228). */
const READ_ONLY = 1;

/** Returns the names of fields whose value changed: the appearance of their widgets may change. */
export function valuedFields(pair: ObjectComparison, survey: DocumentSurvey): ReadonlySet<string> {
  const valued = new Set<string>();
  for (const { number, dict, name, type } of survey.fields.values()) {
    const after = pair.changed(number) ? pair.after.pdf.dict(pair.after.pdf.object(number)) : dict;
    const value = dict.get('V');
    const below = value === undefined ? [] : referencesIn(value);
    // The appearance state of a button widget is its value.
    const keys = type === 'Btn' ? ['V', 'AS'] : ['V'];
    const differs = keys.some((key) => !equalValues(dict.get(key), after?.get(key)));
    if (differs || below.some((reference) => pair.changed(reference))) valued.add(name);
  }
  return valued;
}

/** @param valued true when the value changed, here or in the parent field */
export function changedField(
  pair: ObjectComparison,
  survey: DocumentSurvey,
  field: SurveyedField,
  after: PdfDict,
  valued: boolean,
): readonly Change[] {
  const { name, dict: before, type, signed } = field;
  const place = `the field ${name}`;
  const values = entriesOf(after);
  if (values === undefined) return [forbidden(`wrote a key of ${place} twice`)];
  const differs = (key: string): boolean => !equalValues(before.get(key), values.get(key));
  const [wrong] = changedKeys(before, after, OPEN_FIELD_KEYS);
  if (wrong !== undefined) return [forbidden(`changed /${wrong} of ${place}`)];
  const changes: Change[] = [];
  // Signing may set the flags Print and Locked of the widget; other hidden widgets stay hidden.
  const flags = differs('F') && (type !== 'Sig' || signed);
  if (flags || differs('Ff')) {
    const locks = !flags && ((asInteger(before.get('Ff')) ?? 0) | READ_ONLY) === asInteger(values.get('Ff'));
    changes.push(
      locks
        ? { kind: 'metadata', description: `made ${place} read-only` }
        : forbidden(`changed the flags of ${place}`),
    );
  }
  if (!['V', 'AP', 'AS', 'RV', 'I', 'TI', 'M'].some(differs)) return changes;
  if (signed) return [...changes, forbidden(`changed ${place}, which is signed`)];
  if (!hasOnlyStreams(pair.after.pdf, values.get('AP'))) {
    return [...changes, forbidden(`gave ${place} an unusual appearance`)];
  }
  if (type === 'Sig' && differs('V')) return [...changes, signedField(pair, survey, field, values.get('V'))];
  if (['AS', 'I', 'TI', 'M', 'Ff', 'F'].some((key) => !isPlain(pair.after.pdf, values.get(key), 0))) {
    return [...changes, forbidden(`gave ${place} an unusual state`)];
  }
  if (
    type !== 'Sig' &&
    !(isPlain(pair.after.pdf, values.get('V')) && isPlain(pair.after.pdf, values.get('RV')))
  ) {
    return [...changes, forbidden(`gave ${place} an unusual value`)];
  }
  return [...changes, filledField(pair, survey, field, valued)];
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
    return signature({ field: name, signs: false, covered }, `drew the signature in the field ${name}`);
  }
  const description = `filled in the field ${name}`;
  let undecided: string | undefined;
  for (const widget of [field, ...unchangedWidgets(pair, survey, field)]) {
    const judged = judgeAppearance(pair, widget, places.get(widget.number));
    if (judged.status === 'forbidden')
      return forbidden(`gave the field ${name} an appearance that ${judged.reason}`);
    if (judged.status === 'undecided')
      undecided = `The appearance of the filled field ${name} ${judged.reason}.`;
  }
  return { kind: 'form', field: name, description, ...(undecided === undefined ? {} : { undecided }) };
}

/** Lists the widgets of a field that its new value concerns, and that the update left as they were. */
function unchangedWidgets(
  pair: ObjectComparison,
  survey: DocumentSurvey,
  { dict, name, type }: SurveyedField,
): SurveyedField[] {
  // The value of a button selects no other state by itself.
  if (type === 'Btn') return [];
  const kids = [...items(pair.before.pdf.resolve(dict.get('Kids')))];
  return kids
    .flatMap((kid) => survey.fields.get(asReference(kid)?.number ?? -1) ?? [])
    .filter((widget) => widget.name === name && !pair.changed(widget.number));
}

function signature(
  facts: { readonly field: string; readonly signs: boolean; readonly covered: Covered },
  description: string,
): Change {
  return { kind: 'signature', ...facts, isNew: false, isVisible: false, description };
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
  return signature({ field: name, signs: true, covered }, `signed the field ${name}`);
}

/**
 * True for text, numbers, names and lists of them: another object could have a meaning for other references to it.
 * @param steps most references to follow
 */
function isPlain(pdf: PdfDocument, slice: ByteSlice | undefined, steps = 1): boolean {
  if (slice === undefined) return true;
  if (asReference(slice) !== undefined && steps === 0) return false;
  const value = pdf.resolve(slice);
  return pdf.dict(value) === undefined && (!isArray(value) || referencesIn(value).length === 0);
}
