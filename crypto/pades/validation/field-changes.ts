/**
 * What a later revision may do to fields that are there: fill them in, sign them, lock them (ISO 32000-2, 12.7.4 and
 * 12.8.2.2).
 */
import {
  asInteger,
  asName,
  asReference,
  entriesOf,
  equalValues,
  isArray,
  type PdfDict,
  type PdfDocument,
  type Piece,
  referencesIn,
} from '../../pdf/index.ts';
import { hasOnlyStreams } from './appearance.ts';
import { changedKeys } from './catalog-changes.ts';
import { type Change, forbidden } from './change.ts';
import type { StatePair } from './state-pair.ts';
import type { Survey, SurveyedField } from './survey.ts';

/** What filling in a field may change, besides its value: how it looks, and that it is locked now. */
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

/** Table 228: nobody can change the field any more. */
const READ_ONLY = 1;

/** Names of the fields that have another value than before: their widgets, which share the name, may look different. */
export function valuedFields(pair: StatePair, survey: Survey): ReadonlySet<string> {
  const valued = new Set<string>();
  for (const { number, dict, name, type } of survey.fields.values()) {
    const after = pair.changed(number) ? pair.after.pdf.dict(pair.after.pdf.object(number)) : dict;
    const value = dict.get('V');
    const below = value === undefined ? [] : referencesIn(value);
    // The state of a button is its value, as far as its widget knows.
    const keys = type === 'Btn' ? ['V', 'AS'] : ['V'];
    const differs = keys.some((key) => !equalValues(dict.get(key), after?.get(key)));
    if (differs || below.some((reference) => pair.changed(reference))) valued.add(name);
  }
  return valued;
}

/** @param valued it has another value than before, here or in the field it is a widget of */
export function changedField(
  pair: StatePair,
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
  // Signing may make the widget printable and locked; whatever else is hidden stays hidden.
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
  if (type === 'Sig' && differs('V')) return [...changes, signedField(pair, name, values.get('V'))];
  if (['AS', 'I', 'TI', 'M', 'Ff', 'F'].some((key) => !isPlain(pair.after.pdf, values.get(key), 0))) {
    return [...changes, forbidden(`gave ${place} an unusual state`)];
  }
  if (
    type !== 'Sig' &&
    !(isPlain(pair.after.pdf, values.get('V')) && isPlain(pair.after.pdf, values.get('RV')))
  ) {
    return [...changes, forbidden(`gave ${place} an unusual value`)];
  }
  return [...changes, filledField(field, valued)];
}

/** A field, or a widget of it, that looks different: only with another value is that what filling in means. */
export function filledField({ name, type }: SurveyedField, valued: boolean): Change {
  if (!valued) return forbidden(`gave the field ${name} another look without another value`);
  if (type !== 'Sig') return { kind: 'form', field: name, description: `filled in the field ${name}` };
  return signature(name, false, `drew the signature in the field ${name}`);
}

function signature(field: string, signs: boolean, description: string): Change {
  return { kind: 'signature', field, covers: false, isNew: false, signs, description };
}

/** True for a dictionary that can be nothing else: fonts, pictures and forms are streams or have a subtype. */
export function isSignature(pdf: PdfDocument, number: number, dict: PdfDict): boolean {
  const type = asName(pdf.resolve(dict.get('Type')));
  if (type !== undefined && type !== 'Sig' && type !== 'DocTimeStamp') return false;
  return dict.get('Subtype') === undefined && pdf.plainObject(number)?.data === undefined;
}

function signedField(pair: StatePair, name: string, value: Piece | undefined): Change {
  const { pdf } = pair.after;
  const number = asReference(value)?.number;
  const dict = pdf.dict(value);
  if (dict === undefined || number === undefined || !isSignature(pdf, number, dict)) {
    return forbidden(`wrote no signature into the field ${name}`);
  }
  if (pair.before.has(number)) return forbidden(`put an older object into the field ${name}`);
  return signature(name, true, `signed the field ${name}`);
}

/**
 * Text, numbers, names and lists of them: anything more could be used as something else by whoever points to the field.
 * @param steps references that may lead there
 */
function isPlain(pdf: PdfDocument, piece: Piece | undefined, steps = 1): boolean {
  if (piece === undefined) return true;
  if (asReference(piece) !== undefined && steps === 0) return false;
  const value = pdf.resolve(piece);
  return pdf.dict(value) === undefined && (!isArray(value) || referencesIn(value).length === 0);
}
