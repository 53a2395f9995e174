/**
 * Decodes object streams and cross-reference streams
 * (ISO 32000-2, 7.4; FlateDecode, LZWDecode, the two ASCII filters, and predictors of 7.4.4.4).
 */
import { constants, inflateRawSync, inflateSync, type ZlibOptions } from 'node:zlib';
import { PdfSyntaxError } from './reading-errors.ts';
import { isSpace } from './syntax.ts';
import { asDict, asInteger, asName, type ByteSlice, isArray, isNull, items, type PdfDict } from './values.ts';

/** Most decoded bytes of a structure stream: 64 MiB hold some ten million entries. */
const MAX_UNPACKED = 64 << 20;
/** Most filters of a stream; real ones have up to two. */
const MAX_FILTERS = 4;

/** Resolves a reference; filters of structure streams must be direct, but some writers use references. */
type Resolve = (slice: ByteSlice) => ByteSlice;

/** Applies the filters of a stream dictionary to its data. @throws PdfSyntaxError */
export function unpack(dict: PdfDict, packed: Buffer, resolve: Resolve): Buffer {
  const names = listOf(dict.get('Filter') ?? dict.get('F'), resolve);
  const parameters = listOf(dict.get('DecodeParms') ?? dict.get('DP'), resolve);
  let data = packed;
  for (const [index, slice] of names.entries()) {
    const parameter = parameters[index];
    data = applyFilter(asName(slice), parameter && asDict(parameter), data);
    if (data.length > MAX_UNPACKED)
      throw new PdfSyntaxError('A structure stream unpacks to more than 64 MiB.');
  }
  return data;
}

function listOf(slice: ByteSlice | undefined, resolve: Resolve): readonly ByteSlice[] {
  if (slice === undefined) return [];
  const found = resolve(slice);
  if (isArray(found)) {
    const list: ByteSlice[] = [];
    for (const item of items(found)) {
      if (list.length === MAX_FILTERS)
        throw new PdfSyntaxError(`A stream has more than ${MAX_FILTERS} filters.`);
      list.push(resolve(item));
    }
    return list;
  }
  return isNull(found) ? [] : [found];
}

function applyFilter(name: string | undefined, parameter: PdfDict | undefined, data: Buffer): Buffer {
  switch (name) {
    case 'FlateDecode':
    case 'Fl':
      return predicted(inflate(data), parameter);
    case 'LZWDecode':
    case 'LZW':
      return predicted(
        decodeLzw(data, asInteger(parameter?.get('EarlyChange')) ?? 1, MAX_UNPACKED),
        parameter,
      );
    case 'ASCIIHexDecode':
    case 'AHx':
      return decodeAsciiHex(data);
    case 'ASCII85Decode':
    case 'A85':
      return decodeAscii85(data);
    case 'Crypt':
      // The data is already decrypted with the key of the object.
      return data;
    default:
      throw new PdfSyntaxError(
        `A structure stream uses the filter ${name ?? '(none)'}, which can't be undone.`,
      );
  }
}

function inflate(data: Buffer): Buffer {
  // Z_SYNC_FLUSH: a stream without its checksum is still decoded, as in viewers.
  const options = {
    finishFlush: constants.Z_SYNC_FLUSH,
    maxOutputLength: MAX_UNPACKED,
    // The default chunk size of 16 KiB costs more to allocate than most of these streams to inflate.
    chunkSize: Math.min(Math.max(4 * data.length, 1 << 10), 1 << 18),
  };
  try {
    return inflateSync(data, options);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    const unchecked =
      code === 'Z_DATA_ERROR' && hasZlibHeader(data) ? inflateUnchecked(data, options) : undefined;
    if (unchecked === undefined) throw new PdfSyntaxError(`A structure stream can't be unpacked: ${code}.`);
    return unchecked;
  }
}

/** Tells whether the data begins with a zlib header without dictionary (RFC 1950 §2.2). */
function hasZlibHeader(data: Buffer): boolean {
  return (
    data.length > 2 &&
    data.readUInt16BE(0) % 31 === 0 &&
    ((data[0] ?? 0) & 15) === 8 &&
    ((data[1] ?? 0) & 32) === 0
  );
}

/** Inflates without a look at the checksum, as viewers do; undefined for damaged data. */
function inflateUnchecked(data: Buffer, options: ZlibOptions): Buffer | undefined {
  try {
    return inflateRawSync(data.subarray(2), options);
  } catch {
    return undefined;
  }
}

function predicted(data: Buffer, parameter: PdfDict | undefined): Buffer {
  const predictor = asInteger(parameter?.get('Predictor')) ?? 1;
  if (predictor === 1 || parameter === undefined) return data;
  return unpredict(data, {
    predictor,
    colors: asInteger(parameter.get('Colors')) ?? 1,
    bits: asInteger(parameter.get('BitsPerComponent')) ?? 8,
    columns: asInteger(parameter.get('Columns')) ?? 1,
  });
}

/**
 * ASCIIHexDecode and ASCII85Decode (ISO 32000-2, 7.4.2 and 7.4.3).
 */
function decodeAsciiHex(data: Buffer): Buffer {
  const end = data.indexOf('>');
  const digits = data.toString('latin1', 0, end < 0 ? data.length : end).replace(/[\0\t\n\f\r ]+/g, '');
  if (/[^0-9a-fA-F]/.test(digits))
    throw new PdfSyntaxError('A stream in hexadecimal has other characters in it.');
  return Buffer.from(digits.length % 2 === 0 ? digits : `${digits}0`, 'hex');
}

const TILDE = 0x7e;
const LETTER_Z = 0x7a;
const FIRST = 0x21;
const LAST = 0x75;

function decodeAscii85(data: Buffer): Buffer {
  // "z" encodes four zero bytes; all other groups decode five digits to four bytes.
  const out = Buffer.alloc(data.length * 4);
  let size = 0;
  let group = 0;
  let count = 0;
  for (const byte of data) {
    if (byte === TILDE) break;
    if (isSpace(byte)) continue;
    if (byte === LETTER_Z && count === 0) {
      size += 4;
      continue;
    }
    if (byte < FIRST || byte > LAST)
      throw new PdfSyntaxError('A stream in base 85 has other characters in it.');
    group = group * 85 + (byte - FIRST);
    if (++count === 5) {
      size = out.writeUInt32BE(group % 2 ** 32, size);
      group = 0;
      count = 0;
    }
  }
  if (count > 1) {
    // A short last group is padded with the highest digit and decodes to one byte fewer than its digits.
    for (let fill = count; fill < 5; fill++) group = group * 85 + 84;
    const last = Buffer.alloc(4);
    last.writeUInt32BE(group % 2 ** 32);
    size += last.copy(out, size, 0, count - 1);
  }
  return out.subarray(0, size);
}

/**
 * LZWDecode (ISO 32000-2, 7.4.4.2): codes of 9 to 12 bits, most significant bit first.
 */
const CLEAR = 256;
const END = 257;
const CODES = 4096;

/**
 * @param early /EarlyChange: 1 when codes grow one entry early, as is usual; 0 when not
 * @param limit most bytes of the result
 */
function decodeLzw(data: Buffer, early: number, limit: number): Buffer {
  // Each code above END refers to an earlier part of the output: its start and length.
  const from = new Uint32Array(CODES);
  const length = new Uint32Array(CODES);
  let out = Buffer.allocUnsafe(Math.min(limit, Math.max(1024, data.length * 4)));
  let size = 0;
  let next = END + 1;
  let width = 9;
  let bits = 0;
  let held = 0;
  let previous = -1;
  for (const byte of data) {
    held = ((held << 8) | byte) & 0xffffff;
    bits += 8;
    if (bits < width) continue;
    bits -= width;
    const code = (held >> bits) & ((1 << width) - 1);
    if (code === END) break;
    if (code === CLEAR) {
      next = END + 1;
      width = 9;
      previous = -1;
      continue;
    }
    if (code > next || (code === next && previous < 0))
      throw new PdfSyntaxError('An LZW stream names an unknown code.');
    const start = size;
    const stretch =
      code < CLEAR ? 1 : code === next ? lengthOf(previous, length) + 1 : lengthOf(code, length);
    if (size + stretch > limit) throw new PdfSyntaxError('A structure stream unpacks to more than 64 MiB.');
    if (size + stretch > out.length) out = Buffer.concat([out], Math.min(limit, (size + stretch) * 2));
    if (code < CLEAR) {
      out[size++] = code;
    } else {
      const source = code === next ? start - lengthOf(previous, length) : (from[code] as number);
      for (let index = 0; index < stretch; index++) out[size++] = out[source + index] as number;
    }
    if (previous >= 0 && next < CODES) {
      // The entry is the previous part and the first byte of this one, which follows it in the output.
      const before = lengthOf(previous, length);
      from[next] = start - before;
      length[next] = before + 1;
      next++;
      if (next + early >= 1 << width && width < 12) width++;
    }
    previous = code;
  }
  return out.subarray(0, size);
}

function lengthOf(code: number, length: Uint32Array): number {
  return code < CLEAR ? 1 : (length[code] as number);
}

/**
 * Undoes predictors (ISO 32000-2, 7.4.4.4): TIFF 2 with whole bytes, and the PNG filters.
 */
interface Prediction {
  /** 2 for TIFF, 10 to 15 for PNG (each row then has its own filter). */
  readonly predictor: number;
  readonly colors: number;
  /** Bits per component. */
  readonly bits: number;
  /** Samples per row. */
  readonly columns: number;
}

/** Most bytes of a row of a structure stream. */
const MAX_ROW = 1 << 20;

export function unpredict(data: Buffer, prediction: Prediction): Buffer {
  const { predictor, colors, bits, columns } = prediction;
  const row = Math.ceil((colors * bits * columns) / 8);
  const pixel = Math.max(1, Math.ceil((colors * bits) / 8));
  if (!(row >= 1 && row <= MAX_ROW && colors >= 1 && bits >= 1)) {
    throw new PdfSyntaxError('A predictor has rows of an impossible size.');
  }
  if (predictor === 2) return undoTiff(data, row, pixel, bits);
  if (predictor >= 10 && predictor <= 15) return undoPng(data, row, pixel);
  throw new PdfSyntaxError(`The predictor ${predictor} is unknown.`);
}

function undoTiff(data: Buffer, row: number, pixel: number, bits: number): Buffer {
  if (bits !== 8)
    throw new PdfSyntaxError(`A TIFF predictor over ${bits} bits is not used in structure streams.`);
  const out = Buffer.from(data);
  for (let start = 0; start < out.length; start += row) {
    const end = Math.min(start + row, out.length);
    for (let at = start + pixel; at < end; at++) out[at] = (out[at] as number) + (out[at - pixel] as number);
  }
  return out;
}

/**
 * Decodes the PNG filters: each row begins with its filter byte; an incomplete last row is decoded as far as it goes.
 */
function undoPng(data: Buffer, row: number, pixel: number): Buffer {
  const rows = Math.ceil(data.length / (row + 1));
  const out = Buffer.alloc(Math.max(0, data.length - rows));
  for (let index = 0; index < rows; index++) {
    const source = index * (row + 1) + 1;
    const start = index * row;
    const end = Math.min(start + row, out.length);
    const filter = data[source - 1] as number;
    if (filter > 4) throw new PdfSyntaxError(`A row names the PNG filter ${filter}, which does not exist.`);
    for (let at = start; at < end; at++) {
      const left = at - start >= pixel ? (out[at - pixel] as number) : 0;
      const up = index > 0 ? (out[at - row] as number) : 0;
      const corner = index > 0 && at - start >= pixel ? (out[at - row - pixel] as number) : 0;
      out[at] = (data[source + at - start] as number) + predictedByte(filter, left, up, corner);
    }
  }
  return out;
}

function predictedByte(filter: number, left: number, up: number, corner: number): number {
  if (filter === 0) return 0;
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  const fromLeft = Math.abs(up - corner);
  const fromUp = Math.abs(left - corner);
  const fromCorner = Math.abs(left + up - 2 * corner);
  if (fromLeft <= fromUp && fromLeft <= fromCorner) return left;
  return fromUp <= fromCorner ? up : corner;
}
