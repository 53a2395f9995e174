/**
 * What a later revision may do to the form: add signature fields, sign, fill in (ISO 32000-2, 12.7 and 12.8.2.2).
 */
import {
  asInteger,
  asName,
  asReference,
  entriesOf,
  equalValues,
  isArray,
  items,
  type PdfDict,
  type PdfDocument,
  type Piece,
} from '../../pdf/index.ts';
import { hasOnlyStreams } from './appearance.ts';
import { addsOnly, changedKeys } from './catalog-changes.ts';
import { type Change, forbidden } from './change.ts';
import { type NewField, newSignatureField } from './new-signature-field.ts';
import type { StatePair } from './state-pair.ts';
import type { Survey, SurveyedField } from './survey.ts';

export interface FormChanges {
  readonly changes: readonly Change[];
  /** Widgets of signature fields that are new: these may be put on pages. */
  readonly widgets: ReadonlySet<number>;
}

/** Entries of the form that are compared by what they mean. */
export const OPEN_FORM_KEYS: ReadonlySet<string> = new Set([
  'Fields',
  'SigFlags',
  'DR',
  'DA',
  'NeedAppearances',
]);

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

export function formChanges(pair: StatePair, survey: Survey): FormChanges {
  const changes: Change[] = [];
  const added: NewField[] = [];
  const before = pair.before.pdf.dict(pair.before.pdf.catalog.get('AcroForm'));
  const after = pair.after.pdf.dict(pair.after.pdf.catalog.get('AcroForm'));
  if (after === undefined) {
    return { changes: before === undefined ? [] : [forbidden('removed the form')], widgets: new Set() };
  }
  if (before === undefined) changes.push(...newForm(after));
  else changes.push(...changedForm(pair, before, after));
  const list = compareList(pair, before?.get('Fields'), after.get('Fields'));
  if (list.lost) changes.push(forbidden('removed fields from the form'));
  addFields(list.added, '');
  for (const field of survey.fields.values()) {
    if (!pair.changed(field.number)) continue;
    const dict = pair.after.pdf.dict(pair.after.pdf.object(field.number));
    if (dict === undefined) changes.push(forbidden(`removed the field ${field.name}`));
    else {
      changes.push(...changedField(pair, field, dict));
      const kids = compareList(pair, field.dict.get('Kids'), dict.get('Kids'));
      if (kids.lost) changes.push(forbidden(`removed parts of the field ${field.name}`));
      if (kids.added.length > 0 && field.type !== undefined)
        changes.push(forbidden(`added parts to the field ${field.name}`));
      else addFields(kids.added, field.name);
    }
  }
  return { changes, widgets: new Set(added.flatMap(({ widgets }) => widgets)) };

  function addFields(pieces: readonly Piece[], parent: string): void {
    const names = new Set(Array.from(survey.fields.values(), ({ name }) => name));
    for (const piece of pieces) {
      const field = newSignatureField(pair, piece, parent, names);
      changes.push(field.change);
      if (field.change.kind !== 'forbidden') added.push(field);
    }
  }
}

function newForm(after: PdfDict): readonly Change[] {
  const allowed = new Set(['Fields', 'SigFlags', 'DR', 'DA', 'Q']);
  const values = entriesOf(after);
  const wrong =
    values === undefined ||
    [...values.keys()].some((key) => !allowed.has(key) && !isOff(key, values.get(key)));
  return wrong ? [forbidden('added a form that does more than carry signatures')] : [];
}

const isOff = (key: string, value: Piece | undefined): boolean =>
  key === 'NeedAppearances' && value?.bytes.toString('latin1', value.start, value.end) === 'false';

function changedForm(pair: StatePair, before: PdfDict, after: PdfDict): readonly Change[] {
  const changes: Change[] = changedKeys(before, after, OPEN_FORM_KEYS).map((key) =>
    forbidden(`changed ${key.startsWith('w') ? 'the form, which has a key twice' : `/${key} of the form`}`),
  );
  const flags = after.get('SigFlags');
  if (flags !== undefined && asInteger(pair.after.pdf.resolve(flags)) === undefined) {
    changes.push(forbidden('changed /SigFlags of the form'));
  }
  const needs = after.get('NeedAppearances');
  if (
    !equalValues(before.get('NeedAppearances'), needs) &&
    needs !== undefined &&
    !isOff('NeedAppearances', needs)
  ) {
    changes.push(forbidden('asked viewers to draw all fields anew'));
  }
  const style = before.get('DA');
  if (style !== undefined && !equalValues(style, after.get('DA')))
    changes.push(forbidden('changed /DA of the form'));
  if (!resourcesOnlyGrow(pair, before.get('DR'), after.get('DR'))) {
    changes.push(forbidden('changed the resources of the form'));
  }
  return changes;
}

/** Resources under new names can't change what is drawn with the old ones. */
function resourcesOnlyGrow(pair: StatePair, before: Piece | undefined, after: Piece | undefined): boolean {
  const old = pair.before.pdf.dict(before);
  if (old === undefined) return true;
  const now = pair.after.pdf.dict(after);
  const values = now && entriesOf(now);
  if (values === undefined) return false;
  return old.entries.every((entry) => {
    const [kind, value] = [old.keyOf(entry), old.valueAt(entry)];
    if (pair.before.pdf.dict(value) === undefined) return equalValues(value, values.get(kind));
    return addsOnly(pair, value, values.get(kind));
  });
}

/** What an array lost and gained; the items that stay must keep their order. */
export function compareList(
  pair: StatePair,
  before: Piece | undefined,
  after: Piece | undefined,
): { readonly lost: boolean; readonly added: readonly Piece[] } {
  const old = [...items(pair.before.pdf.resolve(before))];
  const list = pair.after.pdf.resolve(after);
  const added: Piece[] = [];
  let next = 0;
  for (const item of items(list)) {
    if (next < old.length && equalValues(item, old[next])) next++;
    else added.push(item);
  }
  return { lost: next < old.length, added };
}

function changedField(pair: StatePair, field: SurveyedField, after: PdfDict): readonly Change[] {
  const { name, dict: before, type, signed } = field;
  const place = `the field ${name}`;
  const values = entriesOf(after);
  if (values === undefined) return [forbidden(`wrote a key of ${place} twice`)];
  const differs = (key: string): boolean => !equalValues(before.get(key), values.get(key));
  const wrong = changedKeys(before, after, OPEN_FIELD_KEYS);
  if (wrong.length > 0) return [forbidden(`changed /${wrong[0]} of ${place}`)];
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
  const filled = ['V', 'AP', 'AS', 'RV', 'I', 'TI', 'M'].filter(differs);
  if (filled.length === 0) return changes;
  if (signed) return [...changes, forbidden(`changed ${place}, which is signed`)];
  if (!hasOnlyStreams(pair.after.pdf, values.get('AP')))
    return [...changes, forbidden(`gave ${place} an unusual appearance`)];
  if (type === 'Sig') return [...changes, signedField(pair, field, values.get('V'), filled)];
  if (!isPlain(pair.after.pdf, values.get('V')) || !isPlain(pair.after.pdf, values.get('RV'))) {
    return [...changes, forbidden(`gave ${place} an unusual value`)];
  }
  return [...changes, { kind: 'form', field: name, description: `filled in ${place}` }];
}

/** Text, numbers, names and lists of them; a dictionary could be used as something else. */
function isPlain(pdf: PdfDocument, piece: Piece | undefined): boolean {
  const value = pdf.resolve(piece);
  return (
    pdf.dict(piece) === undefined &&
    (!isArray(value) || [...items(value)].every((item) => asReference(item) === undefined))
  );
}

function signedField(
  pair: StatePair,
  field: SurveyedField,
  value: Piece | undefined,
  filled: readonly string[],
): Change {
  const { name } = field;
  const number = asReference(value)?.number;
  const signature = pair.after.pdf.dict(value);
  if (signature === undefined) {
    // A widget of a field that keeps its value elsewhere only shows that it was signed.
    return filled.includes('V') || value !== undefined
      ? forbidden(`wrote no signature into the field ${name}`)
      : {
          kind: 'signature',
          field: name,
          covers: false,
          isNew: false,
          description: `drew the signature in the field ${name}`,
        };
  }
  if (number === undefined || pair.before.has(number))
    return forbidden(`put an older object into the field ${name}`);
  const type = asName(pair.after.pdf.resolve(signature.get('Type')));
  if (type !== undefined && type !== 'Sig' && type !== 'DocTimeStamp')
    return forbidden(`wrote no signature into the field ${name}`);
  return {
    kind: 'signature',
    field: name,
    covers: false,
    isNew: false,
    description: `signed the field ${name}`,
  };
}
