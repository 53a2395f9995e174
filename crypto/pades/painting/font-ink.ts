/** Finds the ink of each code of an embedded font: its glyph in the font program (ISO 32000-2, 9.6.5 and 9.7.4). */
import {
  asName,
  asReference,
  type ByteSlice,
  entriesOf,
  items,
  type PdfDict,
  type PdfDocument,
} from '../../pdf/index.ts';
import { type FontProgram, type Ink, openTypeProgram } from './font-program.ts';
import type { GlyphNames } from './glyph-names.ts';
import { type1Program } from './type1-program.ts';

/** Most bytes of all font programs of a document that are measured, and most of these. */
const MAX_BYTES = 32 << 20;
const MAX_PROGRAMS = 300;

/** @returns the ink of a code; undefined when it cannot be told */
export function glyphInk(
  pdf: PdfDocument,
  font: PdfDict,
  names?: GlyphNames,
): ((code: number) => Ink | undefined) | undefined {
  const [member] = items(pdf.resolve(font.get('DescendantFonts')));
  const own = names === undefined ? pdf.dict(member) : font;
  const descriptor = pdf.dict(own?.get('FontDescriptor'));
  const isClear = [font, own, descriptor, pdf.dict(font.get('Encoding'))].every(
    (dict) => dict === undefined || entriesOf(dict) !== undefined,
  );
  const file = ['FontFile', 'FontFile2', 'FontFile3'].filter((key) => descriptor?.get(key) !== undefined);
  const [kind, another] = file;
  if (own === undefined || kind === undefined || another !== undefined || !isClear) return undefined;
  const program = programOf(pdf, descriptor?.get(kind), kind);
  if (program === undefined) return undefined;
  if (names === undefined) {
    const glyphs = glyphNumbers(pdf, own, kind);
    return glyphs && ((code) => program.numbered(glyphs(code)) ?? program.whole());
  }
  return (code) => {
    const key = names.key(code);
    const byName = key === undefined ? undefined : program.named(key);
    const isOpenType = kind === 'FontFile2';
    const found = key === undefined || isOpenType ? program.coded(code, names.character(code)) : byName;
    return found ?? program.whole();
  };
}

/** Returns how the codes of a composite font select glyphs. */
function glyphNumbers(pdf: PdfDocument, own: PdfDict, kind: string): ((code: number) => number) | undefined {
  const type = asName(pdf.resolve(own.get('Subtype')));
  if (type === 'CIDFontType0' && kind === 'FontFile3') return (code) => code;
  if (type !== 'CIDFontType2' || kind !== 'FontFile2') return undefined;
  const written = own.get('CIDToGIDMap');
  if (written === undefined || asName(pdf.resolve(written)) === 'Identity') return (code) => code;
  const map = pdf.stream(written);
  return map && ((code) => (2 * code + 2 <= map.length && code >= 0 ? map.readUInt16BE(2 * code) : 0));
}

interface Known {
  readonly programs: Map<number, FontProgram | undefined>;
  bytes: number;
}

const KNOWN = new WeakMap<PdfDocument, Known>();

function programOf(pdf: PdfDocument, slice: ByteSlice | undefined, kind: string): FontProgram | undefined {
  const number = asReference(slice)?.number;
  if (number === undefined) return undefined;
  const known = KNOWN.get(pdf) ?? { programs: new Map<number, FontProgram | undefined>(), bytes: 0 };
  KNOWN.set(pdf, known);
  if (known.programs.has(number)) return known.programs.get(number);
  const file = pdf.stream(slice);
  known.bytes += file?.length ?? 0;
  const isRead = file !== undefined && known.bytes <= MAX_BYTES && known.programs.size < MAX_PROGRAMS;
  const program = !isRead ? undefined : kind === 'FontFile' ? type1Program(file) : openTypeProgram(file);
  known.programs.set(number, program);
  return program;
}
