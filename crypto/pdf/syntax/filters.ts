/**
 * Decodes object streams and cross-reference streams
 * (ISO 32000-2, 7.4; FlateDecode, LZWDecode, the two ASCII filters, and predictors of 7.4.4.4).
 */
import { constants, inflateRawSync, inflateSync, type ZlibOptions } from 'node:zlib';
import { decodeAscii85, decodeAsciiHex } from './ascii-filters.ts';
import { PdfSyntaxError } from './damage.ts';
import { decodeLzw } from './lzw.ts';
import { unpredict } from './predictor.ts';
import { asDict, asInteger, asName, type ByteSlice, isArray, isNull, items, type PdfDict } from './values.ts';

/** Most decoded bytes of a structure stream: 64 MiB hold some ten million entries. */
const MAX_UNPACKED = 64 << 20;
/** Most filters of a stream; real ones have up to two. */
const MAX_FILTERS = 4;

/** Resolves a reference; filters of structure streams must be direct, but some writers use references. */
export type Resolve = (slice: ByteSlice) => ByteSlice;

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
