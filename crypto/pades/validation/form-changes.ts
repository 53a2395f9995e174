/** Permitted changes of the form: adding signature fields, signing, filling in (ISO 32000-2, 12.7 and 12.8.2.2). */
import {
  asInteger,
  asName,
  asReference,
  asString,
  type ByteSlice,
  entriesOf,
  equalValues,
  isNull,
  items,
  type PdfDict,
  type PdfDocument,
  referencesIn,
} from '../../pdf/index.ts';
import { referenceTo, streamsOf } from '../painting/appearance-streams.ts';
import { type Change, forbidden } from './change-policy.ts';
import type { ChangeKind } from './change-rules.ts';
import { changedBelow, entryChanges } from './compared-entries.ts';
import { changedField, valuedFields } from './field-changes.ts';
import { formDataChanges } from './form-data.ts';
import { type NewField, newGroup, newSignatureField } from './new-signature-field.ts';
import type { ObjectComparison } from './object-comparison.ts';
import { redrawnFields } from './redrawn-fields.ts';
import type { DocumentSurvey, SurveyedField } from './survey.ts';

interface FormChanges {
  readonly changes: readonly Change[];
  /** Widgets of new signature fields, which may be added to pages. */
  readonly widgets: ReadonlySet<number>;
}

/** Changes of a field that say nothing about what it shows. */
const UNDRAWN: ReadonlySet<ChangeKind> = new Set<ChangeKind>(['entry', 'metadata']);

/** Most levels of a new field's name above the last. */
const MAX_GROUPS = 8;

/** @param isJudged tells of an object whether it is compared elsewhere */
export function formChanges(
  pair: ObjectComparison,
  survey: DocumentSurvey,
  isJudged: (number: number) => boolean,
): FormChanges {
  const changes: Change[] = [];
  const added: NewField[] = [];
  const groups = new Set<number>();
  const before = pair.before.pdf.dict(pair.before.pdf.catalog.get('AcroForm'));
  const after = pair.after.pdf.dict(pair.after.pdf.catalog.get('AcroForm'));
  if (after === undefined) {
    const changes = before === undefined ? [] : [forbidden('removed the form')];
    return { changes, widgets: new Set() };
  }
  const valued = valuedFields(pair, survey);
  changes.push(...changedForm(pair, survey, valued, { before, after }));
  const unlisted = unlistedSignatures(pair, survey, before, after);
  for (const { name } of unlisted.values())
    changes.push({ kind: 'unlisted', description: `took the signed field ${name} out of the form` });
  const list = compareList(pair, before?.get('Fields'), after.get('Fields'), unlisted);
  if (list.lost) changes.push(forbidden('removed fields from the form'));
  addFields(list.added, '');
  const drawn = new Set<number>();
  for (const field of survey.fields.values()) {
    const isChanged = pair.changed(field.number);
    const dict = isChanged ? pair.after.pdf.dict(pair.after.pdf.object(field.number)) : field.dict;
    if (dict === undefined) {
      changes.push(forbidden(`removed the field ${field.name}`));
      continue;
    }
    const below = changedBelow(pair, field.dict, isJudged);
    const own = changedField(pair, survey, {
      field,
      after: dict,
      below: (key) => key !== 'Kids' && below(key),
      valued: valued.has(field.name),
    });
    // Whoever draws the field is judged below, unless one of these changes was judged by it.
    if (own.some(({ kind }) => !UNDRAWN.has(kind))) drawn.add(field.number);
    changes.push(...own);
    // The list may be a separate object, which changes while the field stays equal.
    const kids = compareList(pair, field.dict.get('Kids'), dict.get('Kids'));
    if (kids.lost) changes.push(forbidden(`removed parts of the field ${field.name}`));
    // Programs look for the widgets of a field in its list, also in an empty one.
    if (isWritten(field.dict.get('Kids')) !== isWritten(dict.get('Kids')))
      changes.push(forbidden(`made the field ${field.name} one with parts, or without`));
    if (kids.added.length > 0 && field.type !== undefined)
      changes.push(forbidden(`added parts to the field ${field.name}`));
    else addFields(kids.added, field.name);
  }
  changes.push(...redrawnFields(pair, survey, valued, drawn));
  return { changes, widgets: new Set(added.flatMap(({ widgets }) => widgets)) };

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

/** @param valued names of the fields whose value changed */
function changedForm(
  pair: ObjectComparison,
  survey: DocumentSurvey,
  valued: ReadonlySet<string>,
  { before, after }: FormPair,
): readonly Change[] {
  const compared = {
    place: before === undefined ? 'new form' : 'form',
    what: 'the form',
    before,
    after,
    below: changedBelow(pair, before, (number) => survey.fields.has(number)),
  } as const;
  return entryChanges(compared, ({ judged }, keys) => {
    if (judged === 'part')
      return keys.includes('DR') ? changedResources(pair, survey, before?.get('DR'), after.get('DR')) : [];
    if (judged === 'data')
      return formDataChanges(pair, survey, valued, { before: before?.get('XFA'), after: after.get('XFA') });
    return keys.map((key) => changedSetting(pair, key, valued.size > 0, { before, after }));
  });
}

interface FormPair {
  readonly before: PdfDict | undefined;
  readonly after: PdfDict;
}

function changedSetting(
  pair: ObjectComparison,
  key: string,
  hasNewValues: boolean,
  { before, after }: FormPair,
): Change {
  const description = `changed /${key} of the form`;
  const now = pair.after.pdf.resolve(after.get(key));
  if (key === 'SigFlags') {
    const old = asInteger(pair.before.pdf.resolve(before?.get(key))) ?? 0;
    const flags = isNull(now) ? 0 : asInteger(now);
    if (flags === undefined) return forbidden(description);
    const lost = old & ~flags;
    // Some programs show their list of signatures by the first bit.
    return { kind: lost === 0 ? 'upkeep' : (lost & 1) === 1 ? 'unlisted' : 'metadata', description };
  }
  const word = now.bytes.toString('latin1', now.start, now.end);
  const isOff = key === 'NeedAppearances' && (isNull(now) || word === 'false');
  if (before === undefined)
    return key !== 'NeedAppearances' || isOff ? { kind: 'upkeep', description } : NO_REDRAWING;
  if (key === 'NeedAppearances') {
    if (isOff) return { kind: 'setting', description: 'let viewers show the stored look of all fields' };
    return word === 'true' && hasNewValues
      ? { kind: 'redrawn', description: 'asked viewers to draw all fields anew' }
      : NO_REDRAWING;
  }
  // Whether a field is drawn with it is told of each field.
  const isAdded = before.get(key) === undefined && asString(now) !== undefined;
  return isAdded ? { kind: 'setting', description } : forbidden(description);
}

const NO_REDRAWING = forbidden('asked viewers to draw all fields anew');

/** True when resources are only added, and no look of a field or an annotation is drawn with those that are new. */
function changedResources(
  pair: ObjectComparison,
  survey: DocumentSurvey,
  before: ByteSlice | undefined,
  after: ByteSlice | undefined,
): readonly Change[] {
  const old = pair.before.pdf.dict(before);
  const now = pair.after.pdf.dict(after);
  if (now === undefined) return old === undefined ? [] : [forbidden('took the resources of the form away')];
  const below = changedBelow(pair, old);
  const compared = {
    place: 'form resources',
    what: 'the resources of the form',
    before: old,
    after: now,
    below,
  } as const;
  return entryChanges(compared, (_rule, keys) =>
    keys.map((kind): Change => {
      const names = namesChanged(pair, old?.get(kind), now.get(kind), kind === 'XObject');
      if (names === undefined) return forbidden('changed the resources of the form');
      return borrows(pair, survey, names)
        ? forbidden(`changed resources of the form with which a look is drawn (/${kind})`)
        : { kind: 'setting', description: `changed /${kind} in the resources of the form` };
    }),
  );
}

/** Returns the names that were added, and those that lead to another drawing; undefined when others changed. */
function namesChanged(
  pair: ObjectComparison,
  before: ByteSlice | undefined,
  after: ByteSlice | undefined,
  mayExchange: boolean,
): readonly string[] | undefined {
  const old = pair.before.pdf.dict(before);
  const now = pair.after.pdf.dict(after);
  // /ProcSet is a list, which no reader uses any more.
  if (old === undefined && now === undefined) return isNull(pair.before.pdf.resolve(before)) ? [] : undefined;
  const values = now && entriesOf(now);
  if (values === undefined || (old === undefined && !isNull(pair.before.pdf.resolve(before))))
    return undefined;
  const lost = (old?.entries ?? []).some((entry) => {
    const key = old?.keyOf(entry) ?? '';
    const isSame = equalValues(old?.valueAt(entry), values.get(key));
    return !isSame && !(mayExchange && isForm(pair.after.pdf, values.get(key)));
  });
  if (lost) return undefined;
  return [...values.keys()].filter((key) => !equalValues(old?.get(key), values.get(key)));
}

/** True for a drawing: programs exchange the one of their visible signatures. */
function isForm(pdf: PdfDocument, value: ByteSlice | undefined): boolean {
  return asReference(value) !== undefined && asName(pdf.resolve(pdf.dict(value)?.get('Subtype'))) === 'Form';
}

/** Most drawings inside each other. */
const MAX_NESTED = 8;

/** True when an appearance without resources of its own draws with these names, so that viewers may take those of the form. */
function borrows(pair: ObjectComparison, survey: DocumentSurvey, names: readonly string[]): boolean {
  if (names.length === 0) return false;
  const { pdf } = pair.before;
  const draws = (number: number, depth: number): boolean => {
    pair.before.spend(1);
    if (depth > MAX_NESTED) return true;
    const resources = pdf.dict(pdf.dict(pdf.object(number))?.get('Resources'));
    if (resources === undefined) {
      const used = namesIn(pdf.stream(referenceTo(number, pdf)));
      if (used === undefined || names.some((name) => used.has(name))) return true;
    }
    const inner = pdf.dict(resources?.get('XObject'));
    return (inner?.entries ?? []).some((entry) => {
      const value = inner?.valueAt(entry);
      return isForm(pdf, value) && draws(asReference(value)?.number ?? -1, depth + 1);
    });
  };
  // Pages may hold annotations as direct objects.
  const direct = survey.pages.flatMap(({ dict }) =>
    [...items(pdf.resolve(dict.get('Annots')))].filter((item) => asReference(item) === undefined),
  );
  const numbers = [...survey.fields.keys(), ...survey.annotations.keys()];
  const shown = [
    ...numbers.map((number) => pdf.dict(pdf.object(number))),
    ...direct.map((item) => pdf.dict(item)),
  ];
  return shown.some((dict) => {
    const streams = streamsOf(pdf, dict?.get('AP'));
    return streams === undefined || streams.some((stream) => draws(stream, 0));
  });
}

/** Returns all names in a content stream, whatever they are used for; undefined when it cannot be read. */
function namesIn(content: Buffer | undefined): ReadonlySet<string> | undefined {
  if (content === undefined) return undefined;
  const found = new Set<string>();
  for (const [, name = ''] of content.toString('latin1').matchAll(/\/([^\s\0()<>[\]{}/%]*)/g))
    found.add(
      name.replace(/#([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    );
  return found;
}

/**
 * Returns removed and added items of an array; the remaining items must keep their order.
 * @param left object numbers that the newer list may leave out
 */
export function compareList(
  pair: ObjectComparison,
  before: ByteSlice | undefined,
  after: ByteSlice | undefined,
  left?: { has(number: number): boolean },
): { readonly lost: boolean; readonly added: readonly ByteSlice[] } {
  const old = [...items(pair.before.pdf.resolve(before))].filter(
    (item) => left?.has(asReference(item)?.number ?? -1) !== true,
  );
  const list = pair.after.pdf.resolve(after);
  const added: ByteSlice[] = [];
  let next = 0;
  for (const item of items(list)) {
    if (next < old.length && equalValues(old[next], item)) next++;
    else added.push(item);
  }
  return { lost: next < old.length, added };
}

const isWritten = (value: ByteSlice | undefined): boolean => value !== undefined && !isNull(value);
