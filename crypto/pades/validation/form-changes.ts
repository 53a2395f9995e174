/** Permitted changes of the form: adding signature fields, signing, filling in (ISO 32000-2, 12.7 and 12.8.2.2). */
import {
  asInteger,
  asName,
  asReference,
  type ByteSlice,
  entriesOf,
  equalValues,
  items,
  type PdfDict,
  referencesIn,
} from '../../pdf/index.ts';
import { referenceTo, streamsOf } from '../painting/appearance-streams.ts';
import { addsOnly, changedKeys } from './catalog-changes.ts';
import { type Change, forbidden } from './change-policy.ts';
import { changedField, valuedFields } from './field-changes.ts';
import { type NewField, newGroup, newSignatureField } from './new-signature-field.ts';
import type { ObjectComparison } from './object-comparison.ts';
import type { DocumentSurvey, SurveyedField } from './survey.ts';

interface FormChanges {
  readonly changes: readonly Change[];
  /** Names of the fields whose value changed. */
  readonly valued: ReadonlySet<string>;
  /** Widgets of new signature fields, which may be added to pages. */
  readonly widgets: ReadonlySet<number>;
}

/** Entries of the form that have comparison rules of their own. */
export const OPEN_FORM_KEYS: ReadonlySet<string> = new Set([
  'Fields',
  'SigFlags',
  'DR',
  'DA',
  'NeedAppearances',
]);

/** Most levels of a new field's name above the last. */
const MAX_GROUPS = 8;

export function formChanges(pair: ObjectComparison, survey: DocumentSurvey): FormChanges {
  const changes: Change[] = [];
  const added: NewField[] = [];
  const groups = new Set<number>();
  const before = pair.before.pdf.dict(pair.before.pdf.catalog.get('AcroForm'));
  const after = pair.after.pdf.dict(pair.after.pdf.catalog.get('AcroForm'));
  if (after === undefined) {
    const changes = before === undefined ? [] : [forbidden('removed the form')];
    return { changes, valued: new Set(), widgets: new Set() };
  }
  if (before === undefined) changes.push(...newForm(after));
  else changes.push(...changedForm(pair, survey, before, after));
  const unlisted = unlistedSignatures(pair, survey, before, after);
  for (const { name } of unlisted.values())
    changes.push({ kind: 'unlisted', description: `took the signed field ${name} out of the form` });
  const list = compareList(pair, before?.get('Fields'), after.get('Fields'), unlisted);
  if (list.lost) changes.push(forbidden('removed fields from the form'));
  addFields(list.added, '');
  const valued = valuedFields(pair, survey);
  for (const field of survey.fields.values()) {
    const changed = pair.changed(field.number);
    const dict = changed ? pair.after.pdf.dict(pair.after.pdf.object(field.number)) : field.dict;
    if (dict === undefined) {
      changes.push(forbidden(`removed the field ${field.name}`));
      continue;
    }
    if (changed) changes.push(...changedField(pair, survey, field, dict, valued.has(field.name)));
    // The list may be a separate object, which changes while the field stays equal.
    const kids = compareList(pair, field.dict.get('Kids'), dict.get('Kids'));
    if (kids.lost) changes.push(forbidden(`removed parts of the field ${field.name}`));
    if (kids.added.length > 0 && field.type !== undefined)
      changes.push(forbidden(`added parts to the field ${field.name}`));
    else addFields(kids.added, field.name);
  }
  return { changes, valued, widgets: new Set(added.flatMap(({ widgets }) => widgets)) };

  function addFields(pieces: readonly ByteSlice[], parent: string, depth = 0): void {
    for (const slice of pieces) {
      const group = depth < MAX_GROUPS ? newGroup(pair, slice, parent) : undefined;
      if (group !== undefined && !survey.names.has(group.name) && !groups.has(group.number)) {
        groups.add(group.number);
        addFields(group.kids, group.name, depth + 1);
        continue;
      }
      const field = newSignatureField(pair, slice, parent, survey);
      changes.push(field.change);
      if (field.change.kind !== 'forbidden') added.push(field);
    }
  }
}

/**
 * Returns the signed fields that the newer list of fields leaves out although they did not change: some programs write a
 * list with their own signature only. The pages must still show them, which `pageChanges` checks.
 */
function unlistedSignatures(
  pair: ObjectComparison,
  { fields, places }: DocumentSurvey,
  before: PdfDict | undefined,
  after: PdfDict,
): ReadonlyMap<number, SurveyedField> {
  const kept = new Set(referencesIn(pair.after.pdf.resolve(after.get('Fields'))));
  const found = new Map<number, SurveyedField>();
  for (const item of items(pair.before.pdf.resolve(before?.get('Fields')))) {
    const field = fields.get(asReference(item)?.number ?? -1);
    if (field?.type !== 'Sig' || !field.signed || kept.has(field.number)) continue;
    const widgets = [field.number, ...referencesIn(pair.before.pdf.resolve(field.dict.get('Kids')))];
    if (widgets.some((number) => places.has(number)) && !widgets.some((number) => pair.changed(number)))
      found.set(field.number, field);
  }
  return found;
}

function newForm(after: PdfDict): readonly Change[] {
  const allowed = new Set(['Fields', 'SigFlags', 'DR', 'DA', 'Q']);
  const values = entriesOf(after);
  const wrong =
    values === undefined ||
    [...values.keys()].some((key) => !allowed.has(key) && !isOff(key, values.get(key)));
  return wrong ? [forbidden('added a form that does more than carry signatures')] : [];
}

const isOff = (key: string, value: ByteSlice | undefined): boolean =>
  key === 'NeedAppearances' && value?.bytes.toString('latin1', value.start, value.end) === 'false';

function changedForm(
  pair: ObjectComparison,
  survey: DocumentSurvey,
  before: PdfDict,
  after: PdfDict,
): readonly Change[] {
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
  if (!resourcesOnlyGrow(pair, survey, before.get('DR'), after.get('DR'))) {
    changes.push(forbidden('changed the resources of the form'));
  }
  return changes;
}

/** Resource categories (table 34), and the encodings of forms. */
const RESOURCES: ReadonlySet<string> = new Set([
  'Font',
  'XObject',
  'ExtGState',
  'ColorSpace',
  'Pattern',
  'Shading',
  'Properties',
  'ProcSet',
]);

/** True when resources are only added: new names can't change content that uses the existing ones. */
function resourcesOnlyGrow(
  pair: ObjectComparison,
  survey: DocumentSurvey,
  before: ByteSlice | undefined,
  after: ByteSlice | undefined,
): boolean {
  const old = pair.before.pdf.dict(before);
  const now = pair.after.pdf.dict(after);
  if (now === undefined) return old === undefined;
  const values = entriesOf(now);
  if (values === undefined) return false;
  for (const kind of values.keys()) {
    if (old?.get(kind) !== undefined || RESOURCES.has(kind)) continue;
    if (kind !== 'Encoding') return false;
  }
  return (old?.entries ?? []).every((entry) => {
    const [kind, value] = [old?.keyOf(entry) ?? '', old?.valueAt(entry)];
    if (pair.before.pdf.dict(value) === undefined) return equalValues(value, values.get(kind));
    if (addsOnly(pair, value, values.get(kind))) return true;
    return (
      kind === 'XObject' && exchangesForms(pair, value, values.get(kind)) && !borrowsResources(pair, survey)
    );
  });
}

/** True when each name of a drawing leads to another drawing, as programs exchange the one of their visible signatures. */
function exchangesForms(
  pair: ObjectComparison,
  before: ByteSlice | undefined,
  after: ByteSlice | undefined,
): boolean {
  const { pdf } = pair.after;
  const [old, now] = [pair.before.pdf.dict(before), pdf.dict(after)];
  const values = now && entriesOf(now);
  if (values === undefined) return false;
  const isForm = (value: ByteSlice | undefined): boolean =>
    asReference(value) !== undefined && asName(pdf.resolve(pdf.dict(value)?.get('Subtype'))) === 'Form';
  return (old?.entries ?? []).every((entry) => {
    const value = values.get(old?.keyOf(entry) ?? '');
    return equalValues(old?.valueAt(entry), value) || isForm(value);
  });
}

/** Most drawings inside each other. */
const MAX_NESTED = 8;

/** True when an appearance draws with no resources of its own, so that viewers may take those of the form. */
function borrowsResources(pair: ObjectComparison, survey: DocumentSurvey): boolean {
  const { pdf } = pair.before;
  const borrows = (number: number, depth: number): boolean => {
    pair.before.spend(1);
    const resources = pdf.dict(pdf.dict(pdf.object(number))?.get('Resources'));
    if (depth > MAX_NESTED) return true;
    if (resources === undefined) return pdf.stream(referenceTo(number))?.includes('Do') !== false;
    const inner = pdf.dict(resources.get('XObject'));
    return (inner?.entries ?? []).some((entry) => {
      const value = inner?.valueAt(entry);
      const isForm = asName(pdf.resolve(pdf.dict(value)?.get('Subtype'))) === 'Form';
      return isForm && borrows(asReference(value)?.number ?? -1, depth + 1);
    });
  };
  const numbers = [...survey.fields.keys(), ...survey.annotations.keys()];
  // Pages may hold annotations as direct objects.
  const direct = survey.pages.flatMap(({ dict }) =>
    [...items(pdf.resolve(dict.get('Annots')))].filter((item) => asReference(item) === undefined),
  );
  const shown = [
    ...numbers.map((number) => pdf.dict(pdf.object(number))),
    ...direct.map((item) => pdf.dict(item)),
  ];
  return shown.some((dict) => {
    const streams = streamsOf(pdf, dict?.get('AP'));
    return streams === undefined || streams.some((stream) => borrows(stream, 0));
  });
}

/**
 * Returns removed and added items of an array; the remaining items must keep their order.
 * @param left object numbers that the newer list may leave out
 */
export function compareList(
  pair: ObjectComparison,
  before: ByteSlice | undefined,
  after: ByteSlice | undefined,
  left?: ReadonlyMap<number, unknown>,
): { readonly lost: boolean; readonly added: readonly ByteSlice[] } {
  const old = [...items(pair.before.pdf.resolve(before))].filter(
    (item) => left?.has(asReference(item)?.number ?? -1) !== true,
  );
  const list = pair.after.pdf.resolve(after);
  const added: ByteSlice[] = [];
  let next = 0;
  for (const item of items(list)) {
    if (next < old.length && equalValues(item, old[next])) next++;
    else added.push(item);
  }
  return { lost: next < old.length, added };
}
