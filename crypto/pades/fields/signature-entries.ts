/**
 * Rules of the entries of a signature dictionary, closed (ISO 32000-2, tables 255 and 256): an entry that the table does
 * not name, has another kind of value or stands there twice is named in the report.
 */
import { type Finding, warned } from '../../core/validation-report.ts';
import {
  asDict,
  asInteger,
  asName,
  type ByteSlice,
  isArray,
  isNull,
  type PdfDict,
  type PdfDocument,
} from '../../pdf/index.ts';

const KINDS = {
  name: (value: ByteSlice) => asName(value) !== undefined,
  text: isText,
  number: (value: ByteSlice) => asInteger(value) !== undefined,
  list: isArray,
  dictionary: (value: ByteSlice) => asDict(value) !== undefined,
  texts: (value: ByteSlice) => isArray(value) || isText(value),
} as const;

/** True for a string, which is not decoded: /Contents is long. */
function isText({ bytes, start }: ByteSlice): boolean {
  return bytes[start] === 0x28 || (bytes[start] === 0x3c && bytes[start + 1] !== 0x3c);
}

/** Kind of the value by key. */
export const ENTRY_RULES: ReadonlyMap<string, keyof typeof KINDS> = new Map([
  ['Type', 'name'],
  ['Filter', 'name'],
  ['SubFilter', 'name'],
  ['Contents', 'text'],
  ['ByteRange', 'list'],
  ['Cert', 'texts'],
  ['Reference', 'list'],
  ['Changes', 'list'],
  ['Name', 'text'],
  ['M', 'text'],
  ['Location', 'text'],
  ['Reason', 'text'],
  ['ContactInfo', 'text'],
  ['R', 'number'],
  ['V', 'number'],
  ['Prop_Build', 'dictionary'],
  ['Prop_AuthTime', 'number'],
  ['Prop_AuthType', 'name'],
]);

/** Restrictions that a transform of /Reference brings; one that is not named leaves later changes undecided. */
export const TRANSFORMS: ReadonlyMap<string, 'level' | 'lock' | 'nothing'> = new Map([
  ['DocMDP', 'level'],
  ['FieldMDP', 'lock'],
  ['UR', 'nothing'],
  ['Identity', 'nothing'],
]);

/** Most keys in a message. */
const MAX_LISTED = 10;

/** Warnings of the type `pdf.entries`. */
export function signatureEntries(
  pdf: PdfDocument,
  dict: PdfDict,
  subFilter: string | undefined,
): readonly Finding[] {
  const keys = dict.entries.map((entry) => dict.keyOf(entry));
  const own = [...new Set(keys)];
  const isOfItsKind = (key: string): boolean => {
    const rule = ENTRY_RULES.get(key);
    const value = pdf.resolve(dict.get(key));
    return rule === undefined || isNull(value) || KINDS[rule](value);
  };
  const type = asName(pdf.resolve(dict.get('Type')));
  const expected = subFilter === 'ETSI.RFC3161' ? 'DocTimeStamp' : 'Sig';
  const warn = (message: string, found: readonly string[]): Finding[] => {
    const named = found.slice(0, MAX_LISTED).map((key) => `/${key}`);
    return found.length === 0 ? [] : [warned('pdf.entries', message, named.join(', '))];
  };
  return [
    ...warn(
      'The signature dictionary has an entry twice, of which programs show different ones.',
      own.filter((key) => dict.count(key) > 1),
    ),
    ...warn(
      'The signature dictionary has entries that the standard does not name.',
      own.filter((key) => !ENTRY_RULES.has(key)),
    ),
    ...warn(
      'The signature dictionary has values of another kind than the standard names.',
      own.filter((key) => !isOfItsKind(key)),
    ),
    ...(type === undefined || type === expected
      ? []
      : warn(`The signature dictionary has not the type /${expected}.`, ['Type', type])),
  ];
}
