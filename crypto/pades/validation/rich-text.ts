/** Compares the rich text of a field, from which editors draw it anew (ISO 32000-2, 12.7.4.4), with its value. */
import { asInteger, equalValues, inheritedByField, type PdfDict } from '../../pdf/index.ts';
import { type AppearanceJudgement, FAITHFUL, leavesOpen } from '../shown-values/appearance-judgement.ts';
import { fieldValue, textOf } from '../shown-values/field-value.ts';
import type { ObjectComparison } from './object-comparison.ts';
import type { SurveyedField } from './survey.ts';

/** Bit 26 of /Ff. */
const RICH_TEXT = 1 << 25;

/** Judges the rich text of a field after a change. */
export function judgeRichText(
  pair: ObjectComparison,
  { dict: before }: SurveyedField,
  dict: PdfDict,
): AppearanceJudgement {
  const { pdf } = pair.after;
  const written = dict.get('RV');
  const isUsed = ((asInteger(pdf.resolve(inheritedByField(pdf, dict, 'Ff'))) ?? 0) & RICH_TEXT) !== 0;
  if (written === undefined || (!isUsed && equalValues(written, before.get('RV')))) return FAITHFUL;
  const text = withoutTags(textOf(pdf, written) ?? '').replace(ENTITY, characterOf);
  const bare = (one: string): string => one.replace(/\s/g, '');
  const isSame = fieldValue(pdf, dict).texts?.some((value) => bare(value) === bare(text));
  return isSame === true ? FAITHFUL : leavesOpen('has a rich text that is another one than its value');
}

function withoutTags(markup: string): string {
  const [start = '', ...parts] = markup.split('<');
  return start + parts.map((part) => part.slice(part.indexOf('>') + 1)).join('');
}

const ENTITY = /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(amp|lt|gt|quot|apos));/gi;
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function characterOf(all: string, decimal?: string, hex?: string, name?: string): string {
  const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
  return NAMED[name ?? ''] ?? (code <= 0x10ffff ? String.fromCodePoint(code) : all);
}
