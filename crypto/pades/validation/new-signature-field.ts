/** Checks a signature field that a later revision added: signed in it, or empty. */
import {
  asName,
  asReference,
  asText,
  type ByteSlice,
  entriesOf,
  items,
  type PdfDict,
  referencesIn,
} from '../../pdf/index.ts';
import { hasArea, hasOnlyStreams } from '../painting/appearance-streams.ts';
import type { Covered } from '../painting/covered-content.ts';
import { type Change, forbidden } from './change-policy.ts';
import { ruleOf } from './change-rules.ts';
import { isSignature, signatureChange } from './field-changes.ts';
import { coveredBySignature, WORST } from './filled-appearance.ts';
import type { ObjectComparison } from './object-comparison.ts';
import type { DocumentSurvey } from './survey.ts';

export interface NewField {
  readonly change: Change;
  /** Object numbers of its widgets; the field itself when it is a merged widget. */
  readonly widgets: readonly number[];
}

interface Widget {
  readonly number: number;
  readonly dict: PdfDict;
}

/**
 * @param parent full name of the parent field; empty at the top
 * @param survey of the document before the revision
 */
export function newSignatureField(
  pair: ObjectComparison,
  slice: ByteSlice,
  parent: string,
  survey: DocumentSurvey,
): NewField {
  const { pdf } = pair.after;
  const number = asReference(slice)?.number;
  const dict = pdf.dict(slice);
  const refuse = (why: string): NewField => ({ change: forbidden(why), widgets: [] });
  if (number === undefined || dict === undefined)
    return refuse('added a form field that is no object of its own');
  const part = asText(pdf.resolve(dict.get('T')));
  const name = parent === '' ? (part ?? '') : `${parent}.${part ?? ''}`;
  if (asName(pdf.resolve(dict.get('FT'))) !== 'Sig')
    return refuse(`added the form field ${name}, which is for no signature`);
  if (part === undefined || part === '' || survey.names.has(name))
    return refuse(`added a second field with the name ${name}`);
  const widgets: Widget[] = [];
  if (asName(dict.get('Subtype')) !== undefined) widgets.push({ number, dict });
  for (const kid of items(pdf.resolve(dict.get('Kids')))) {
    const own = asReference(kid)?.number;
    const widget = pdf.dict(kid);
    if (own === undefined || widget === undefined || widgets.length === MAX_WIDGETS)
      return refuse(`gave the field ${name} odd parts`);
    widgets.push({ number: own, dict: widget });
  }
  for (const each of [{ number, dict }, ...widgets]) {
    const fault = faultOf(pair, each);
    if (fault !== undefined) return refuse(`added the signature field ${name} with ${fault}`);
  }
  return {
    change: change(pair, survey, { name, dict, widgets }),
    widgets: widgets.map((widget) => widget.number),
  };
}

const MAX_WIDGETS = 100;

/**
 * Checks a new field that only groups others; undefined when it is something else.
 * @param parent full name of the parent field; empty at the top
 */
export function newGroup(
  pair: ObjectComparison,
  slice: ByteSlice,
  parent: string,
): { readonly number: number; readonly name: string; readonly kids: readonly ByteSlice[] } | undefined {
  const { pdf } = pair.after;
  const number = asReference(slice)?.number;
  const dict = pdf.dict(slice);
  const values = dict && entriesOf(dict);
  if (number === undefined || values === undefined || pair.before.has(number)) return undefined;
  const part = asText(pdf.resolve(values.get('T')));
  const kids = [...items(pdf.resolve(values.get('Kids')))];
  const areFields = kids.every((kid) => pdf.dict(kid)?.get('T') !== undefined);
  if (part === undefined || part === '' || kids.length === 0 || !areFields) return undefined;
  if ([...values.keys()].some((key) => ruleOf('new group of fields', key) === undefined)) return undefined;
  return { number, name: parent === '' ? part : `${parent}.${part}`, kids };
}

function faultOf(pair: ObjectComparison, { number, dict }: Widget): string | undefined {
  if (pair.before.has(number)) return 'an object that was there before';
  const values = entriesOf(dict);
  if (values === undefined) return 'a key written twice';
  const odd = [...values.keys()].find((key) => ruleOf('new signature field', key) === undefined);
  if (odd !== undefined) return `an entry /${odd}`;
  const type = asName(values.get('Subtype'));
  if (type !== undefined && type !== 'Widget') return `the annotation type ${type}`;
  return hasOnlyStreams(pair.after.pdf, values.get('AP')) ? undefined : 'an unusual appearance';
}

/** Returns the worst that one of the new widgets covers, on the pages that list it. */
function coveredByWidgets(
  pair: ObjectComparison,
  survey: DocumentSurvey,
  widgets: readonly Widget[],
): Covered {
  const found = widgets.map(({ number, dict }): Covered => {
    if (!hasArea(pair.after.pdf, dict.get('Rect'))) return 'nothing';
    const pages = survey.pages.filter(({ number: own, dict: before }) => {
      pair.before.spend(1);
      const page =
        own !== undefined && pair.changed(own) ? pair.after.pdf.dict(pair.after.pdf.object(own)) : before;
      return referencesIn(pair.after.pdf.resolve(page?.get('Annots'))).includes(number);
    });
    return pages.length === 0 ? 'nothing' : coveredBySignature(pair, number, new Set(pages));
  });
  return found.reduce((one, other) => (WORST.indexOf(other) > WORST.indexOf(one) ? other : one), 'nothing');
}

function change(
  pair: ObjectComparison,
  survey: DocumentSurvey,
  {
    name,
    dict,
    widgets,
  }: { readonly name: string; readonly dict: PdfDict; readonly widgets: readonly Widget[] },
): Change {
  const { pdf } = pair.after;
  const value = dict.get('V');
  const signature = pdf.dict(value);
  const visible = widgets.some((widget) => hasArea(pdf, widget.dict.get('Rect')));
  const covered = coveredByWidgets(pair, survey, widgets);
  if (signature === undefined) {
    const drawn = widgets.some((widget) => widget.dict.get('AP') !== undefined);
    if (value !== undefined || (visible && drawn)) {
      return forbidden(`added the field ${name}, which shows something and has no signature`);
    }
    return signatureChange({
      field: name,
      covered,
      isVisible: visible,
      isNew: true,
      description: `added the empty signature field ${name}`,
    });
  }
  const number = asReference(value)?.number;
  if (number === undefined || pair.before.has(number)) {
    return forbidden(`put a signature that was there before into the new field ${name}`);
  }
  if (!isSignature(pdf, number, signature)) return forbidden(`wrote no signature into the new field ${name}`);
  const stamp = asName(pdf.resolve(signature.get('SubFilter'))) === 'ETSI.RFC3161';
  if (stamp && !visible) {
    const description = `added a document time-stamp in the field ${name}`;
    return { kind: 'timestamp', field: name, isNew: true, signs: true, description };
  }
  return signatureChange({
    field: name,
    covered,
    isVisible: visible,
    isNew: true,
    signs: true,
    description: `added the signature in the field ${name}`,
  });
}
