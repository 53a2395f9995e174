/** Decodes strings with the encoding or /ToUnicode map of their font (ISO 32000-2, 9.6.5 and 9.10.2). */
import { asInteger, asName, isArray, items, type PdfDict, type PdfDocument } from '../../pdf/index.ts';
import { matrixOf, numberOf } from './geometry.ts';

/** One code of a string. */
interface ShownCode {
  readonly code: number;
  /** Undefined when the font has no mapping. */
  readonly text: string | undefined;
  /** Advance, as a fraction of the font size. */
  readonly width: number;
  /** True for the code that word spacing applies to (9.3.3). */
  readonly isSpace: boolean;
  /** Reason why the glyph is not the character that the font says. */
  readonly fault: string | undefined;
  /** Least width of its ink: that of the glyph which readers take from a font of their own. */
  readonly inkWidth: number;
}

export interface FontReader {
  codes(bytes: Buffer): readonly ShownCode[];
  /** True when the file contains the glyph outlines, which may differ from the characters of the mapping. */
  readonly embedded: boolean;
  /** True for Type 3 fonts: glyphs are content streams with any content (9.6.4). */
  readonly drawn: boolean;
  readonly name: string;
}

/** Most bytes of a /ToUnicode map. */
const MAX_MAP = 1 << 20;
const MAX_RANGE = 65_536;

export function fontReader(pdf: PdfDocument, font: PdfDict): FontReader {
  const subtype = asName(pdf.resolve(font.get('Subtype')));
  const name = asName(pdf.resolve(font.get('BaseFont'))) ?? '';
  if (subtype === 'Type0') return compositeFont(pdf, font, name);
  const drawn = subtype === 'Type3';
  const embedded = drawn || hasProgram(pdf, font);
  const encoding = simpleEncoding(pdf, font);
  const map = toUnicode(pdf, font);
  // A program in the file may have an encoding of its own (9.6.5.4).
  const isOwn = embedded && font.get('Encoding') === undefined;
  const contradicts = (code: number): boolean => {
    const [glyph, said] = [encoding(code), map?.get(code)];
    return (
      !isOwn &&
      glyph !== undefined &&
      said !== undefined &&
      /[^\0\ufffd]/.test(said) &&
      alike(glyph) !== alike(said)
    );
  };
  const widths = simpleWidths(pdf, font, name, drawn);
  const isOverlapping = (text: string | undefined, width: number): boolean =>
    !embedded && text !== undefined && width < LEAST_WIDTH * usualWidth(text, NARROW_WIDTH);
  const mapped = (code: number): string | undefined =>
    isOwn ? (map?.get(code) ?? encoding(code)) : (encoding(code) ?? map?.get(code));
  return {
    embedded,
    drawn,
    name,
    codes: (bytes) =>
      Array.from(bytes, (code) => {
        const text = mapped(code);
        const width = widths(code, text);
        const fault = contradicts(code)
          ? 'shows a text in a font that says other characters than it shows'
          : isOverlapping(text, width)
            ? 'shows a text in a font whose characters lie over each other'
            : undefined;
        const inkWidth = embedded || text === undefined ? width : Math.max(width, usualWidth(text));
        return { code, text, width, isSpace: code === 32, fault, inkWidth };
      }),
  };
}

/** Makes characters equal that one glyph stands for. */
function alike(text: string): string {
  return text
    .normalize('NFKC')
    .replace(/[\u00ad\u2010-\u2015\u2212]/g, '-')
    .replace(/[\u2018\u2019\u0060]/g, "'")
    .replace(/\s/g, ' ');
}

/** Advances of Helvetica from code 32 on, in thousandths (Adobe font metrics). */
const HELVETICA = (
  '278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278 278 ' +
  '584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722 667 944 ' +
  '667 667 611 278 278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 ' +
  '278 556 500 722 500 500 500 334 260 334 584'
)
  .split(' ')
  .map(Number);
/** Advance of a character without one, as a fraction of the font size. */
const USUAL_WIDTH = 0.6;
/** The same for the narrow ones among them, such as ł, ι, і, י and ’. */
export const NARROW_WIDTH = 0.2;
const MAX_WIDTHS = 65_536;
/** Least advance of a glyph, as a part of the usual one: fonts of one width have two thirds. */
const LEAST_WIDTH = 0.4;

/**
 * Returns the advance of a character in usual text fonts; none for marks above and below others.
 * @param other advance of a character whose own is not known
 */
export function usualWidth(text: string, other = USUAL_WIDTH): number {
  if (/^\p{M}/u.test(text)) return 0;
  const usual = HELVETICA[(text.normalize('NFD').charCodeAt(0) || 0) - 32];
  return usual === undefined ? other : usual / 1000;
}

function simpleWidths(
  pdf: PdfDocument,
  font: PdfDict,
  name: string,
  drawn: boolean,
): (code: number, text: string | undefined) => number {
  const first = asInteger(pdf.resolve(font.get('FirstChar'))) ?? 0;
  const list = [...items(pdf.resolve(font.get('Widths')))].map((item) => numberOf(pdf.resolve(item)));
  const missing = numberOf(pdf.resolve(pdf.dict(font.get('FontDescriptor'))?.get('MissingWidth'))) ?? 0;
  const scale = drawn ? (matrixOf(pdf, font.get('FontMatrix'))?.[0] ?? 0.001) : 0.001;
  return (code, text) => {
    const width = list[code - first] ?? (list.length > 0 ? missing : undefined);
    if (width !== undefined) return width * scale;
    return /Courier/i.test(name) ? USUAL_WIDTH : usualWidth(text ?? '');
  };
}

function hasProgram(pdf: PdfDocument, font: PdfDict): boolean {
  const descriptor = pdf.dict(font.get('FontDescriptor'));
  return ['FontFile', 'FontFile2', 'FontFile3'].some((key) => descriptor?.get(key) !== undefined);
}

function compositeFont(pdf: PdfDocument, font: PdfDict, name: string): FontReader {
  const encoding = asName(pdf.resolve(font.get('Encoding')));
  const map = encoding === 'Identity-H' ? toUnicode(pdf, font) : undefined;
  const widths = compositeWidths(pdf, font);
  return {
    // The file contains the outlines of a composite font, or readers choose them.
    embedded: true,
    drawn: false,
    name,
    codes: (bytes) =>
      Array.from({ length: Math.ceil(bytes.length / 2) }, (_, index) => {
        const code = index * 2 + 1 < bytes.length ? bytes.readUInt16BE(index * 2) : -1;
        const width = widths(code);
        return { code, text: map?.get(code), width, isSpace: false, fault: undefined, inkWidth: width };
      }),
  };
}

/** Reads /W and /DW of the descendant of a composite font (9.7.4.3). */
function compositeWidths(pdf: PdfDocument, font: PdfDict): (code: number) => number {
  const [descendant] = items(pdf.resolve(font.get('DescendantFonts')));
  const dict = pdf.dict(descendant);
  const usual = (numberOf(pdf.resolve(dict?.get('DW'))) ?? 1000) / 1000;
  const found = new Map<number, number>();
  const list = [...items(pdf.resolve(dict?.get('W')))].map((item) => pdf.resolve(item));
  for (let at = 0; at < list.length && found.size < MAX_WIDTHS; ) {
    const first = numberOf(list[at]) ?? 0;
    const next = list[at + 1];
    if (next !== undefined && isArray(next)) {
      let code = first;
      for (const item of items(next)) found.set(code++, (numberOf(pdf.resolve(item)) ?? 0) / 1000);
      at += 2;
    } else {
      const last = Math.min(numberOf(next) ?? first, first + MAX_WIDTHS);
      for (let code = first; code <= last; code++) found.set(code, (numberOf(list[at + 2]) ?? 0) / 1000);
      at += 3;
    }
  }
  return (code) => found.get(code) ?? usual;
}

/** Reads the entries of a /ToUnicode CMap (9.10.3). */
function toUnicode(pdf: PdfDocument, font: PdfDict): ReadonlyMap<number, string> | undefined {
  const bytes = pdf.stream(font.get('ToUnicode'));
  if (bytes === undefined || bytes.length > MAX_MAP) return undefined;
  const text = bytes.toString('latin1');
  const map = new Map<number, string>();
  for (const body of sectionsOf(text, 'bfchar')) {
    for (const [, code = '', to = ''] of body.matchAll(
      /<([0-9a-fA-F]{2}|[0-9a-fA-F]{4})>\s*<((?:[0-9a-fA-F]{4}){1,8})>/g,
    ))
      map.set(Number.parseInt(code, 16), utf16(to));
  }
  for (const body of sectionsOf(text, 'bfrange')) {
    for (const [, from = '', to = '', first, list] of body.matchAll(
      /<([0-9a-fA-F]{2,4})>\s*<([0-9a-fA-F]{2,4})>\s*(?:<((?:[0-9a-fA-F]{4}){1,8})>|\[([^\]]*)\])/g,
    )) {
      const start = Number.parseInt(from, 16);
      const count = Number.parseInt(to, 16) - start + 1;
      const listed = list === undefined ? undefined : [...list.matchAll(/<([0-9a-fA-F]+)>/g)];
      for (let index = 0; index < count && map.size < MAX_RANGE; index++) {
        const target = listed === undefined ? next(first ?? '', index) : utf16(listed[index]?.[1] ?? '');
        if (target !== '') map.set(start + index, target);
      }
    }
  }
  return map;
}

/** Returns the text between `begin` and `end` of each section of a kind. */
function sectionsOf(text: string, kind: string): string[] {
  const [, ...sections] = text.split(`begin${kind}`);
  return sections.map((section) => section.split(`end${kind}`, 1)[0] ?? '');
}

function utf16(hex: string): string {
  return hex.length % 4 === 0 ? Buffer.from(hex, 'hex').swap16().toString('utf16le') : '';
}

/** Increments the last code unit, as ranges do. */
function next(hex: string, index: number): string {
  const last = (Number.parseInt(hex.slice(-4), 16) + index) & 0xffff;
  return utf16(hex.slice(0, -4) + last.toString(16).padStart(4, '0'));
}

type Encoding = (code: number) => string | undefined;

/** Names of fonts whose glyphs are no letters. */
const SYMBOLS = /dingbat|symbol|wingding|webding|marlett/i;

/**
 * Codes 0x80 to 0x9F of WinAnsiEncoding (annex D.2). The decoder of Node 20 gives control characters for them:
 * https://github.com/nodejs/node/issues/56542
 */
const WIN = '€•‚ƒ„…†‡ˆ‰Š‹Œ•Ž••‘’“”•–—˜™š›œ•žŸ';
const MAC = new TextDecoder('macintosh');

/**
 * Returns the encoding of a simple font; without /Encoding, only the codes that all Latin encodings share; none for a
 * symbolic font.
 */
function simpleEncoding(pdf: PdfDocument, font: PdfDict): Encoding {
  const base = asName(pdf.resolve(font.get('BaseFont'))) ?? '';
  if (SYMBOLS.test(base)) return () => undefined;
  const written = font.get('Encoding');
  const dict = pdf.dict(written);
  const named = baseEncoding(asName(pdf.resolve(dict === undefined ? written : dict.get('BaseEncoding'))));
  const differences = dict === undefined ? new Map<number, string>() : differencesOf(pdf, dict);
  return (code) => (differences.has(code) ? glyphText(differences.get(code) ?? '') : named(code));
}

/** Characters above 0x7E of the predefined encodings. */
const HIGH_CODES: Readonly<Record<string, Encoding>> = {
  WinAnsiEncoding: (code) => WIN[code - 0x80] ?? String.fromCharCode(code),
  MacRomanEncoding: (code) => MAC.decode(Uint8Array.of(code)),
};

function baseEncoding(name: string | undefined): Encoding {
  const high = HIGH_CODES[name ?? ''];
  return (code) => {
    if (code < 0x20) return undefined;
    // StandardEncoding has curved quotation marks at these two codes.
    if (high === undefined && (code === 0x27 || code === 0x60)) return code === 0x27 ? '\u2019' : '\u2018';
    if (code < 0x7f) return String.fromCharCode(code);
    return high?.(code);
  };
}

function differencesOf(pdf: PdfDocument, dict: PdfDict): Map<number, string> {
  const found = new Map<number, string>();
  let code = 0;
  for (const item of items(pdf.resolve(dict.get('Differences')))) {
    const name = asName(item);
    if (name === undefined) code = asInteger(item) ?? 256;
    else if (code < 256) found.set(code++, name);
  }
  return found;
}

const ACCENTS: Readonly<Record<string, string>> = {
  grave: '\u0300',
  acute: '\u0301',
  circumflex: '\u0302',
  tilde: '\u0303',
  macron: '\u0304',
  breve: '\u0306',
  dotaccent: '\u0307',
  dieresis: '\u0308',
  ring: '\u030a',
  hungarumlaut: '\u030b',
  caron: '\u030c',
  cedilla: '\u0327',
  ogonek: '\u0328',
};

/** Names of the Adobe Glyph List for characters other than letters. */
const GLYPHS: ReadonlyMap<string, string> = new Map(
  (
    'space:  exclam:! quotedbl:" numbersign:# dollar:$ percent:% ampersand:& quotesingle:\' parenleft:( parenright:) ' +
    'asterisk:* plus:+ comma:, hyphen:- minus:\u2212 period:. slash:/ zero:0 one:1 two:2 three:3 four:4 five:5 six:6 ' +
    'seven:7 eight:8 nine:9 colon:: semicolon:; less:< equal:= greater:> question:? at:@ bracketleft:[ backslash:\\ ' +
    'bracketright:] asciicircum:^ underscore:_ grave:` braceleft:{ bar:| braceright:} asciitilde:~ bullet:• dagger:† ' +
    'daggerdbl:‡ ellipsis:… emdash:— endash:– quotedblbase:„ quotedblleft:“ quotedblright:” quoteleft:‘ quoteright:’ ' +
    'quotesinglbase:‚ trademark:™ Euro:€ exclamdown:¡ cent:¢ sterling:£ currency:¤ yen:¥ brokenbar:¦ section:§ ' +
    'copyright:© ordfeminine:ª guillemotleft:« guillemotright:» registered:® degree:° plusminus:± mu:µ paragraph:¶ ' +
    'periodcentered:· ordmasculine:º onequarter:¼ onehalf:½ threequarters:¾ questiondown:¿ multiply:× divide:÷ ' +
    'germandbls:ß ae:æ AE:Æ oe:œ OE:Œ oslash:ø Oslash:Ø eth:ð Eth:Ð thorn:þ Thorn:Þ lslash:ł Lslash:Ł dotlessi:ı ' +
    'florin:ƒ fraction:⁄ guilsinglleft:‹ guilsinglright:› perthousand:‰ fi:ﬁ fl:ﬂ'
  )
    .split(/ (?=[A-Za-z]+:)/)
    .map((pair): readonly [string, string] => {
      const at = pair.indexOf(':');
      return [pair.slice(0, at), pair.slice(at + 1) || ' '];
    }),
);

/** Returns the character of a glyph name; undefined for an unknown name. */
function glyphText(name: string): string | undefined {
  if (/^[A-Za-z]$/.test(name)) return name;
  const known = GLYPHS.get(name);
  if (known !== undefined) return known;
  const [, letter, accent] = /^([A-Za-z])([a-z]+)$/.exec(name) ?? [];
  const mark = accent === undefined ? undefined : ACCENTS[accent];
  if (letter !== undefined && mark !== undefined) return `${letter}${mark}`.normalize('NFC');
  const [, hex] = /^uni([0-9A-F]{4})$/.exec(name) ?? [];
  return hex === undefined ? undefined : String.fromCharCode(Number.parseInt(hex, 16));
}
