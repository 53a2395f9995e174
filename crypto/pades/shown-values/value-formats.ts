/**
 * Formats in which a field may show a number or a date (ISO 32000-2, 12.6.3, action `F`). The rule is closed: the shown text is
 * the same number or day, with separators between groups of three digits, one currency, a percent sign, or the parts of the
 * day in another form.
 */

/** Most characters of a number with its separators. */
const MAX_LENGTH = 64;
const CURRENCIES = new Set(Intl.supportedValuesOf('currency'));
const CURRENCY_SIGNS = /^(?:\p{Sc}|R\$|US\$|kr\.?|zł|Kč|Ft|Fr\.|Rs\.?|лв\.?|lei)$/u;

/** True when the shown text is a usual form of the value. */
export function isFormatOf(value: string, shown: string): boolean {
  if (shown.length > MAX_LENGTH || value.length > MAX_LENGTH) return false;
  const own = value.trim();
  const text = shown.trim();
  return isSameNumber(own, text) || isSameDay(own, text) || isSameCode(own, text);
}

function isSameNumber(value: string, shown: string): boolean {
  if (!/^[+-]?\d+(?:[.,]\d+)?$/.test(value)) return false;
  const number = Number(value.replace(',', '.'));
  const parts = /^(-?)(\(?)(-?)(\D*)(\d[\d.,'’\s]*)([^\d.,'’\s)][^\d)]*)?(\)?)$/u.exec(shown);
  if (parts === null) return false;
  const [, sign = '', open = '', inner = '', before = '', digits = '', after = '', close = ''] = parts;
  if ((open === '(') !== (close === ')') || (open !== '' && sign + inner !== '')) return false;
  const isPercent = after.trim() === '%';
  const behind = isPercent ? '' : after.trim();
  const minus = before.trim().endsWith('-') ? '-' : '';
  const ahead = before.trim().replace(/-$/, '').trim();
  if ([ahead, behind].filter((one) => one !== '').length > 1) return false;
  if (![ahead, behind].every((one) => one === '' || CURRENCIES.has(one) || CURRENCY_SIGNS.test(one)))
    return false;
  const read = readNumber(digits.trim());
  if (read === undefined) return false;
  const isNegative = sign + inner + minus !== '' || open === '(';
  const wanted = Math.abs(isPercent ? number * 100 : number);
  const isSigned = read.amount === 0 || isNegative === number < 0;
  return isSigned && wanted.toFixed(read.places) === read.amount.toFixed(read.places);
}

/** Reads digits with one kind of separator between groups of three, and one before the decimals. */
function readNumber(digits: string): { readonly amount: number; readonly places: number } | undefined {
  const grouped = /^(\d{1,3})(?:([.,'’\s\u00a0\u202f])\d{3})(?:\2\d{3})*(?:([.,])(\d{1,10}))?$/u.exec(digits);
  const plain = /^(\d+)(?:[.,](\d{1,10}))?$/.exec(digits);
  if (grouped !== null && grouped[3] !== grouped[2] && !/^0\d|^0[.,]/.test(digits)) {
    const decimals = grouped[4] ?? '';
    const whole = decimals === '' ? digits : digits.slice(0, -decimals.length - 1);
    return { amount: Number(`${whole.replace(/\D/g, '')}.${decimals || '0'}`), places: decimals.length };
  }
  if (plain === null) return undefined;
  const decimals = plain[2] ?? '';
  return { amount: Number(`${plain[1]}.${decimals || '0'}`), places: decimals.length };
}

interface Day {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

const LANGUAGES = [
  'en',
  'de',
  'fr',
  'es',
  'it',
  'pt',
  'nl',
  'pl',
  'sv',
  'da',
  'nb',
  'fi',
  'cs',
  'hu',
  'ro',
  'tr',
];
let monthNames: ReadonlyMap<string, number> | undefined;

function monthOf(name: string): number | undefined {
  monthNames ??= new Map(
    LANGUAGES.flatMap((language) =>
      (['long', 'short'] as const).flatMap((month) =>
        Array.from({ length: 12 }, (_, index): [string, number] => [
          new Intl.DateTimeFormat(language, { month, timeZone: 'UTC' })
            .format(Date.UTC(2000, index, 15))
            .toLowerCase()
            .replace(/\.$/, ''),
          index + 1,
        ]),
      ),
    ),
  );
  return monthNames.get(name.toLowerCase().replace(/\.$/, ''));
}

/** Returns the days that a date may mean, in the orders of its parts. */
function daysIn(text: string): readonly Day[] {
  const year = (digits: string): number => (digits.length === 2 ? 2000 + Number(digits) : Number(digits));
  const at = (y: string, m: number, d: string): Day[] =>
    m >= 1 && m <= 12 && Number(d) >= 1 && Number(d) <= 31
      ? [{ year: year(y), month: m, day: Number(d) }]
      : [];
  const iso = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$/.exec(text);
  if (iso !== null) return at(iso[1] ?? '', Number(iso[2]), iso[3] ?? '');
  const numeric = /^(\d{1,2})[-/.]\s?(\d{1,2})[-/.]\s?(\d{4}|\d{2})$/.exec(text);
  if (numeric !== null) {
    const [, one = '', two = '', y = ''] = numeric;
    return [...at(y, Number(two), one), ...at(y, Number(one), two)];
  }
  const named =
    /^(\d{1,2})(?:\.|st|nd|rd|th)?[\s-](?:de )?(\p{L}+\.?)[\s,-]{1,2}(?:de )?(\d{4}|\d{2})$/u.exec(text);
  if (named !== null) return at(named[3] ?? '', monthOf(named[2] ?? '') ?? 0, named[1] ?? '');
  const american = /^(\p{L}+\.?)[\s-](\d{1,2})(?:st|nd|rd|th)?,?\s(\d{4})$/u.exec(text);
  return american === null ? [] : at(american[3] ?? '', monthOf(american[1] ?? '') ?? 0, american[2] ?? '');
}

function isSameDay(value: string, shown: string): boolean {
  const one = daysIn(value);
  const other = daysIn(shown);
  const same = (left: Day, right: Day): boolean =>
    left.year === right.year && left.month === right.month && left.day === right.day;
  // Where day and month can be exchanged in both, their order stays.
  if (one.length === 2 && other.length === 2)
    return one.every((day, index) => same(day, other[index] ?? day));
  return one.some((left) => other.some((right) => same(left, right)));
}

/** Telephone, postal and insurance numbers: the same digits, divided in one way. */
function isSameCode(value: string, shown: string): boolean {
  const isCode = /^(?:\d{5}-\d{4}|\d{3}-\d{2}-\d{4}|(?:\(\d{3}\) ?)?\d{3}-\d{4})$/.test(shown);
  return isCode && /^[\d\s().-]+$/.test(value) && value.replace(/\D/g, '') === shown.replace(/\D/g, '');
}
