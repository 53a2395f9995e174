/** Reads the names, codes and identifiers of glyphs in a CFF font (Adobe Technical Note 5176). */
import { glyphKey } from './glyph-names.ts';

export interface CompactFont {
  readonly count: number;
  /** Glyphs by name, without those whose names occur twice. */
  readonly names: ReadonlyMap<string, number>;
  /** Glyphs by the codes of the font's own encoding. */
  readonly encoding: ReadonlyMap<number, number>;
  /** Glyphs by character identifiers; undefined for a font with names. */
  readonly identifiers: ReadonlyMap<number, number> | undefined;
}

const MATRIX = 0x0c07;
const ROS = 0x0c1e;
const FONTS = 0x0c24;
const CHARSET = 15;
const ENCODING = 16;
const CHAR_STRINGS = 17;
/** Strings that every font has (appendix A). */
const STANDARD_STRINGS = 391;
/** Those of them that are the characters from the space to the tilde, in the order of StandardEncoding. */
const STANDARD_CHARACTERS = 95;

/** @throws RangeError; returns undefined for a font that is scaled in another way than by thousandths */
export function readCompactFont(file: Buffer): CompactFont | undefined {
  const names = indexAt(file, file.readUInt8(2));
  const tops = indexAt(file, names.end);
  const strings = indexAt(file, tops.end);
  const top = dictOf(tops.items[0] ?? Buffer.alloc(0));
  const count = indexAt(file, top.get(CHAR_STRINGS)?.[0] ?? -1).items.length;
  const fonts = top.has(ROS) ? indexAt(file, top.get(FONTS)?.[0] ?? -1).items.map((one) => dictOf(one)) : [];
  if (![top, ...fonts].every((dict) => isUsual(dict.get(MATRIX)))) return undefined;
  const [charset = 0] = top.get(CHARSET) ?? [];
  const list = charsetAt(file, charset, count);
  if (top.has(ROS)) {
    return {
      count,
      names: new Map(),
      encoding: new Map(),
      identifiers: new Map(list.map((cid, glyph) => [cid, glyph])),
    };
  }
  const keys = list.map((sid) =>
    sid < STANDARD_STRINGS
      ? sid >= 1 && sid <= STANDARD_CHARACTERS
        ? standardKey(sid + 31)
        : undefined
      : glyphKey(strings.items[sid - STANDARD_STRINGS]?.toString('latin1') ?? ''),
  );
  const byName = new Map<string, number>();
  for (const [glyph, key] of keys.entries())
    if (key !== undefined && keys.indexOf(key) === keys.lastIndexOf(key)) byName.set(key, glyph);
  const [encoding = 0] = top.get(ENCODING) ?? [];
  return { count, names: byName, encoding: encodingAt(file, encoding, byName), identifiers: undefined };
}

/** Returns the key of a code of StandardEncoding. */
const standardKey = (code: number): string =>
  code === 0x27 ? '\u2019' : code === 0x60 ? '\u2018' : String.fromCharCode(code);

function isUsual(matrix: readonly number[] | undefined): boolean {
  return (
    matrix === undefined ||
    matrix.every((value, index) => Math.abs(value - (index % 3 === 0 ? 0.001 : 0)) < 1e-6)
  );
}

function indexAt(file: Buffer, at: number): { readonly items: readonly Buffer[]; readonly end: number } {
  const count = file.readUInt16BE(at);
  if (count === 0) return { items: [], end: at + 2 };
  const size = file.readUInt8(at + 2);
  const data = at + 2 + size * (count + 1);
  const offset = (index: number): number => file.readUIntBE(at + 3 + size * index, size);
  const items = Array.from({ length: count }, (_, index) =>
    file.subarray(data + offset(index), data + offset(index + 1)),
  );
  return { items, end: data + offset(count) };
}

function dictOf(bytes: Buffer): ReadonlyMap<number, readonly number[]> {
  const found = new Map<number, readonly number[]>();
  let operands: number[] = [];
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes.readUInt8(at++);
    if (byte <= 21) {
      const operator = byte === 12 ? 0x0c00 | bytes.readUInt8(at++) : byte;
      found.set(operator, operands);
      operands = [];
    } else if (byte === 28) {
      operands.push(bytes.readInt16BE(at));
      at += 2;
    } else if (byte === 29) {
      operands.push(bytes.readInt32BE(at));
      at += 4;
    } else if (byte === 30) {
      let text = '';
      for (let isOpen = true; isOpen; at++) {
        for (const nibble of [bytes.readUInt8(at) >> 4, bytes.readUInt8(at) & 15]) {
          isOpen &&= nibble !== 15;
          if (isOpen)
            text += ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '.', 'E', 'E-', '', '-'][nibble];
        }
      }
      operands.push(Number(text));
    } else if (byte <= 246) operands.push(byte - 139);
    else if (byte <= 250) operands.push((byte - 247) * 256 + bytes.readUInt8(at++) + 108);
    else operands.push(-(byte - 251) * 256 - bytes.readUInt8(at++) - 108);
  }
  return found;
}

/** Returns the string or character identifier of each glyph; those of the first predefined charset are their numbers. */
function charsetAt(file: Buffer, at: number, count: number): readonly number[] {
  if (at <= 2) return Array.from({ length: count }, (_, glyph) => (at === 0 ? glyph : 0));
  const list = [0];
  const format = file.readUInt8(at);
  for (let place = at + 1; list.length < count; ) {
    const first = file.readUInt16BE(place);
    const more = format === 0 ? 0 : format === 1 ? file.readUInt8(place + 2) : file.readUInt16BE(place + 2);
    for (let step = 0; step <= more && list.length < count; step++) list.push(first + step);
    place += 2 + format;
  }
  return list;
}

function encodingAt(
  file: Buffer,
  at: number,
  names: ReadonlyMap<string, number>,
): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  if (at === 0) {
    for (let code = 0x20; code < 0x7f; code++) {
      const glyph = names.get(standardKey(code));
      if (glyph !== undefined) found.set(code, glyph);
    }
  }
  // Another predefined one, or one with codes beside its ranges: nothing is known.
  if (at <= 1 || file.readUInt8(at) > 1) return found;
  const isRanges = file.readUInt8(at) === 1;
  let glyph = 1;
  for (let index = 0; index < file.readUInt8(at + 1); index++) {
    const place = at + 2 + (isRanges ? 2 * index : index);
    const more = isRanges ? file.readUInt8(place + 1) : 0;
    for (let step = 0; step <= more; step++) found.set(file.readUInt8(place) + step, glyph++);
  }
  return found;
}
