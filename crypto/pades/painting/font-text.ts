/** Decodes strings with the encoding or /ToUnicode map of their font (ISO 32000-2, 9.6.5 and 9.10.2). */
import { asInteger, asName, items, type PdfDict, type PdfDocument } from '../../pdf/index.ts';

export interface FontReader {
  /** Decodes the bytes of a string; undefined when the font has no mapping. */
  text(bytes: Buffer): string | undefined;
  /** Bytes of one character. */
  readonly width: 1 | 2;
  /** True when the file contains the glyph outlines, which may differ from the characters of the mapping. */
  readonly embedded: boolean;
  /** True for Type 3 fonts: glyphs are content streams with any content (9.6.4). */
  readonly drawn: boolean;
}

/** Most bytes of a /ToUnicode map. */
const MAX_MAP = 1 << 20;
const MAX_RANGE = 65_536;

export function fontReader(pdf: PdfDocument, font: PdfDict): FontReader {
  const subtype = asName(pdf.resolve(font.get('Subtype')));
  if (subtype === 'Type0') return compositeFont(pdf, font);
  const drawn = subtype === 'Type3';
  const embedded = drawn || hasProgram(pdf, font);
  const encoding = simpleEncoding(pdf, font);
  return {
    width: 1,
    embedded,
    drawn,
    text(bytes) {
      let text = '';
      for (const code of bytes) {
        const character = encoding(code);
        if (character === undefined) return undefined;
        text += character;
      }
      return text;
    },
  };
}

function hasProgram(pdf: PdfDocument, font: PdfDict): boolean {
  const descriptor = pdf.dict(font.get('FontDescriptor'));
  return ['FontFile', 'FontFile2', 'FontFile3'].some((key) => descriptor?.get(key) !== undefined);
}

function compositeFont(pdf: PdfDocument, font: PdfDict): FontReader {
  const encoding = asName(pdf.resolve(font.get('Encoding')));
  const map = encoding === 'Identity-H' ? toUnicode(pdf, font) : undefined;
  return {
    width: 2,
    // The file contains the outlines of a composite font, or readers choose them.
    embedded: true,
    drawn: false,
    text(bytes) {
      if (map === undefined || bytes.length % 2 !== 0) return undefined;
      let text = '';
      for (let at = 0; at < bytes.length; at += 2) {
        const character = map.get(bytes.readUInt16BE(at));
        if (character === undefined) return undefined;
        text += character;
      }
      return text;
    },
  };
}

/** Reads the entries of a /ToUnicode CMap with codes of two bytes (9.10.3). */
function toUnicode(pdf: PdfDocument, font: PdfDict): ReadonlyMap<number, string> | undefined {
  const bytes = pdf.stream(font.get('ToUnicode'));
  if (bytes === undefined || bytes.length > MAX_MAP) return undefined;
  const text = bytes.toString('latin1');
  const map = new Map<number, string>();
  for (const body of sectionsOf(text, 'bfchar')) {
    for (const [, code = '', to = ''] of body.matchAll(/<([0-9a-fA-F]{4})>\s*<((?:[0-9a-fA-F]{4}){1,8})>/g))
      map.set(Number.parseInt(code, 16), utf16(to));
  }
  for (const body of sectionsOf(text, 'bfrange')) {
    for (const [, from = '', to = '', first, list] of body.matchAll(
      /<([0-9a-fA-F]{4})>\s*<([0-9a-fA-F]{4})>\s*(?:<((?:[0-9a-fA-F]{4}){1,8})>|\[([^\]]*)\])/g,
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
  if (/ZapfDingbats|Symbol/.test(base)) return () => undefined;
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
