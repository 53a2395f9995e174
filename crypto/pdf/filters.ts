/**
 * Unpacks the streams a structure can hide in: object streams and cross-reference streams
 * (ISO 32000-2, 7.4; FlateDecode, LZWDecode, the two ASCII filters, and predictors of 7.4.4.4).
 */
import { constants, inflateSync } from 'node:zlib';
import { decodeAscii85, decodeAsciiHex } from './ascii-filters.ts';
import { PdfDamage } from './damage.ts';
import { decodeLzw } from './lzw.ts';
import { unpredict } from './predictor.ts';
import { asDict, asInteger, asName, isArray, isNull, items, type PdfDict, type Piece } from './values.ts';

/** No structure stream may unpack to more than this, bytes: 64 MiB hold some ten million entries. */
const MAX_UNPACKED = 64 << 20;
/** A stream never needs more than two filters; longer chains only multiply. */
const MAX_FILTERS = 4;

/** Finds what a reference points to; filters of structure streams may not use any, but some writers do. */
export type Resolve = (piece: Piece) => Piece;

/** Applies the filters of a stream dictionary to its bytes. @throws PdfDamage */
export function unpack(dict: PdfDict, packed: Buffer, resolve: Resolve): Buffer {
  const names = listOf(dict.get('Filter') ?? dict.get('F'), resolve);
  const parameters = listOf(dict.get('DecodeParms') ?? dict.get('DP'), resolve);
  let data = packed;
  for (const [index, piece] of names.entries()) {
    const parameter = parameters[index];
    data = applyFilter(asName(piece), parameter && asDict(parameter), data);
    if (data.length > MAX_UNPACKED) throw new PdfDamage('A structure stream unpacks to more than 64 MiB.');
  }
  return data;
}

function listOf(piece: Piece | undefined, resolve: Resolve): readonly Piece[] {
  if (piece === undefined) return [];
  const found = resolve(piece);
  if (isArray(found)) {
    const list: Piece[] = [];
    for (const item of items(found)) {
      if (list.length === MAX_FILTERS) throw new PdfDamage(`A stream has more than ${MAX_FILTERS} filters.`);
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
      // Undone already, with the key of the object.
      return data;
    default:
      throw new PdfDamage(`A structure stream uses the filter ${name ?? '(none)'}, which can't be undone.`);
  }
}

function inflate(data: Buffer): Buffer {
  try {
    // Sync flush at the end: a stream whose checksum is missing still gives its bytes, as every viewer does.
    return inflateSync(data, {
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: MAX_UNPACKED,
      // The default of 16 KiB a piece costs more to allocate than most of these streams to unpack.
      chunkSize: Math.min(Math.max(4 * data.length, 1 << 10), 1 << 18),
    });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new PdfDamage(`A structure stream can't be unpacked: ${code}.`);
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
