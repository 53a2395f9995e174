/**
 * The name that is shown of a person, a company or an authority: without the identity numbers that authorities write
 * beside it (Brazil, Spain, Italy, the Baltic countries and others). A closed table knows the forms and kinds of these
 * numbers; other digits stay, since names of companies and time-stamp units have some. Runs in browsers too.
 *
 * Source: EN 319 412-1 §5.1.3.
 */

/** Attributes of a name that say who it is of; undefined when absent. */
export interface NamedEntity {
  readonly commonName?: string | undefined;
  readonly givenName?: string | undefined;
  readonly surname?: string | undefined;
  readonly organization?: string | undefined;
  readonly organizationalUnit?: string | undefined;
  readonly emailAddress?: string | undefined;
  /** serialNumber of the person or machine. */
  readonly serialNumber?: string | undefined;
}

interface DisplayName {
  /** Undefined when no attribute is a name. */
  readonly name: string | undefined;
  /** The number beside the common name; undefined when it has none. */
  readonly number: string | undefined;
}

/** Prefix of a number in serialNumber (EN 319 412-1 §5.1.3): `PNOBR-`, `TINPT-`, `IT:`. */
const PREFIX = /^(?:[A-Z]{3}[A-Z]{2}-|[A-Z]{2}:)/;

/**
 * Numbers that are known by their form. What is no such number stays: companies and time-stamp authorities have digits in
 * their names.
 */
const FORMS: readonly RegExp[] = [
  // With the kind and the country in front (EN 319 412-1).
  /^(?:PNO|IDC|PAS|TIN|TAX|VAT|NTR)[A-Z]{2}-./i,
  // Spain.
  /^(?:\d{8}|[XYZ]-?\d{7})-?[A-Z]$/i,
  // Italy.
  /^[A-Z]{6}[\dL-NP-V]{2}[A-EHLMPR-T][\dL-NP-V]{2}[A-Z][\dL-NP-V]{3}[A-Z]$/i,
  // Brazil: a person, and a company up to the stroke in its number.
  /^\d{3}\.\d{3}\.\d{3}-\d{2}$/,
  /^[A-Z\d]{2}\.[A-Z\d]{3}\.[A-Z\d]{3}$/,
  // Latvia, Finland (two), China.
  /^\d{6}-\d{5}$/,
  /^\d{6}[-+A-FU-Y]\d{3}[\dA-Y]$/,
  /^\d{8}[A-FHJ-NPR-Y]$/,
  /^\d{17}[\dX]$/,
];
/** After a name; so long that it is no date. */
const LAST = /^\p{N}{9,}$/u;
/** After a colon; a company's has letters since 2026 (Brazil). */
const AFTER_COLON = /^[A-Z\d]{12}\d{2}$/;
/** Of a company in Brazil, behind the stroke. */
const AFTER_STROKE = /^[A-Z\d]{4}-\d{2}$/;
/** Words before a number. */
const KIND =
  /^(?:NIF|NIE|DNI|CIF|CPF|CNPJ|CURP|RFC|RUT|RUN|RUC|CUIL|CUIT|PESEL|EGN|OIB|CNP|CC|CI|FIR|BI|NIP|REGON|NIPC|CUI|I[ČC]O|IČ|DIČ|SNILS|OGRN|EDRPOU|ИНН|ИИН|БИН|УНП|СНИЛС|ОГРН|ОГРНИП|ЕГН|ЕИК|РНОКПП|ЄДРПОУ|ΑΦΜ)$/i;
/** Before the number of the company that the holder acts for, with a colon (Spain). */
const OF_COMPANY = /^[RC]$/i;
const OF_KIND = /^\P{N}{0,4}\p{N}[\p{N}.-]{4}/u;
const DASH = /^[-\u2013]$/;
/** Of a company in Spain, last after a dash. */
const AFTER_DASH = /^[A-HJNP-SUVW]\d{7}[\dA-J]$/i;
/** First part of a number in Russia, whose two last digits stand apart. */
const PARTED = /^\d{3}-\d{3}-\d{3}$/;
/** Groups of digits that are a number together, behind its kind. */
const GROUP = /^\p{N}{1,4}$/u;
const FEWEST_GROUPED = 6;

/** Least characters of a number that the certificate names as its holder's. */
const MIN_OWN = 5;
/** Most characters of a name; ub-common-name is 64 (RFC 5280, appendix A.1). */
const MAX_NAME = 1000;

/**
 * Returns the common name, else given name and surname, else organization, unit or address. The organization of a person
 * whose common name is a number is not the person's name.
 */
export function shownName(named: NamedEntity): DisplayName {
  const { name, number } = parted(named);
  const person = [named.givenName, named.surname].filter((part) => part !== undefined).join(' ');
  const groups = number === undefined ? [named.organization, named.organizationalUnit] : [];
  const candidates = [name, person, ...groups, named.emailAddress];
  return { name: candidates.find((one) => one !== undefined && one.trim() !== ''), number };
}

/** Takes the numbers out of the common name. */
function parted(named: NamedEntity): DisplayName {
  const text = named.commonName?.slice(0, MAX_NAME);
  if (text === undefined) return { name: text, number: undefined };
  const pieces = text.split(/([\s,;:/|@()]+)/);
  const words = pieces.filter((_, index) => index % 2 === 0);
  // One for each word: what stands before it.
  const joints = ['', ...pieces.filter((_, index) => index % 2 === 1)];
  const isOut = numbersAmong(words, joints, ownNumber(named));
  if (!isOut.includes(true)) return { name: text, number: undefined };
  const isNumber = (word: string, index: number) => isOut[index] === true && /\p{N}/u.test(word);
  const own = words.findIndex(
    (word, index) => isNumber(word, index) && !OF_COMPANY.test(words[index - 1] ?? ''),
  );
  const at = own < 0 ? words.findIndex(isNumber) : own;
  const rest = words[at + 1] ?? '';
  const isStroked = joints[at + 1] === '/' && AFTER_STROKE.test(rest);
  const groups = groupsFrom(words, joints, at).map((index) => words[index]);
  const whole = groups.length > 0 ? groups.join(' ') : words[at];
  const number = isStroked ? `${words[at]}${rest}`.replace(/[.-]/g, '') : whole;
  let name = '';
  for (const [index, word] of words.entries()) {
    const isDash = DASH.test(word) && (isOut[index - 1] === true || isOut[index + 1] === true);
    if (isOut[index] === true || isDash || (word === '' && isOut[index - 1] === true)) continue;
    const joint = joints[index] ?? '';
    if (name === '') name = word;
    else name += (isOut[index - 1] === true ? joint.replaceAll(')', '') : joint) + word;
  }
  return { name: name.trim(), number };
}

/** Returns for each word whether it is a number, or belongs to one. */
function numbersAmong(
  words: readonly string[],
  joints: readonly string[],
  own: string | undefined,
): readonly boolean[] {
  const isOut: boolean[] = [];
  const last = words.findLastIndex((word) => word !== '');
  const grouped = new Set(words.flatMap((_, index) => groupsFrom(words, joints, index)));
  for (const [index, word] of words.entries()) {
    const before = joints[index] ?? '';
    const isKnown = word.toUpperCase() === own || FORMS.some((form) => form.test(word));
    const isLast = index === last && index > 0 && LAST.test(word);
    const isCompany = before.trim() === ':' && AFTER_COLON.test(word);
    // What follows a number after a stroke belongs to it: a card of Italy has more numbers there.
    const isRest = before === '/' && isOut[index - 1] === true;
    const kind = words[index - 1] ?? '';
    const isOfKind =
      (KIND.test(kind) || (before.trim() === ':' && OF_COMPANY.test(kind))) && OF_KIND.test(word);
    if (isOfKind) isOut[index - 1] = true;
    const isDashed = index === last && DASH.test(kind) && AFTER_DASH.test(word);
    const isSuffix = /^(?:hard|soft)$/i.test(word) && /^FIR$/i.test(words[index - 2] ?? '');
    if (grouped.has(index) && KIND.test(kind)) isOut[index - 1] = true;
    isOut.push(
      isKnown || isLast || isCompany || isRest || isOfKind || isSuffix || isDashed || grouped.has(index),
    );
  }
  return isOut;
}

/** Returns the places of a number whose groups of digits stand apart, from its first one on. */
function groupsFrom(words: readonly string[], joints: readonly string[], from: number): readonly number[] {
  const next = (at: number, form: RegExp): boolean => joints[at] === ' ' && form.test(words[at] ?? '');
  if (PARTED.test(words[from] ?? '')) return next(from + 1, /^\d{2}$/) ? [from, from + 1] : [];
  if (!KIND.test(words[from - 1] ?? '') || !GROUP.test(words[from] ?? '')) return [];
  let end = from + 1;
  while (next(end, GROUP)) end++;
  const digits = words.slice(from, end).join('').length;
  return digits < FEWEST_GROUPED ? [] : Array.from({ length: end - from }, (_, index) => from + index);
}

/** The number that the certificate names as a person's, in capitals; that of a company may be a part of its name. */
function ownNumber({ serialNumber, givenName, surname }: NamedEntity): string | undefined {
  const number = serialNumber?.replace(PREFIX, '');
  if (number === undefined || number.length < MIN_OWN || !/\d/.test(number)) return undefined;
  const isOfPerson = givenName ?? surname ?? /^(?:PNO|IDC|PAS|TIN)/.exec(serialNumber ?? '')?.[0];
  return isOfPerson === undefined ? undefined : number.toUpperCase();
}
