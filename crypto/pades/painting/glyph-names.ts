/** Encodings of simple fonts, and names of glyphs (ISO 32000-2, 9.6.5 and annex D). */
import { asInteger, asName, items, type PdfDict, type PdfDocument } from '../../pdf/index.ts';

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
export function simpleEncoding(pdf: PdfDocument, font: PdfDict): Encoding {
  const base = asName(pdf.resolve(font.get('BaseFont'))) ?? '';
  if (SYMBOLS.test(base)) return () => undefined;
  const written = font.get('Encoding');
  const dict = pdf.dict(written);
  const named = baseEncoding(asName(pdf.resolve(dict === undefined ? written : dict.get('BaseEncoding'))));
  const differences = differencesIn(pdf, font);
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

/** Returns the names that the encoding of a font gives to codes. */
export function differencesIn(pdf: PdfDocument, font: PdfDict): ReadonlyMap<number, string> {
  const dict = pdf.dict(font.get('Encoding'));
  return dict === undefined ? new Map<number, string>() : differencesOf(pdf, dict);
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

/** Names the glyph of each code in a font program: by a key of `glyphKey`, or by the encoding of the program. */
export interface GlyphNames {
  /** Undefined for a code that the encoding of the program itself decides. */
  key(code: number): string | undefined;
  character(code: number): string | undefined;
}

export function glyphNames(pdf: PdfDocument, font: PdfDict): GlyphNames {
  const written = font.get('Encoding');
  const dict = pdf.dict(written);
  const base = asName(pdf.resolve(dict === undefined ? written : dict.get('BaseEncoding')));
  const differences = differencesIn(pdf, font);
  const named = baseEncoding(base);
  const key = (code: number): string | undefined => {
    const name = differences.get(code);
    return name === undefined ? (base === undefined ? undefined : named(code)) : glyphKey(name);
  };
  return {
    key,
    character: (code) => (differences.has(code) ? glyphText(differences.get(code) ?? '') : named(code)),
  };
}

/** Returns what a glyph is found by: the character that its name stands for, else the name. */
export function glyphKey(name: string): string {
  return glyphText(name) ?? `/${name}`;
}

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
