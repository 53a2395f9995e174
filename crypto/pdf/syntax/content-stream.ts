/** Parses content streams (ISO 32000-2, 7.8.2) into operators with their operands. */

import { PdfSyntaxError } from './reading-errors.ts';
import { endsToken, skipRegular, skipSpace, skipValue } from './syntax.ts';
import type { ByteSlice } from './values.ts';

export interface Operation {
  /** `Tj`, `re`, …; `BI` for an inline image, whose data is skipped. */
  readonly operator: string;
  readonly operands: readonly ByteSlice[];
}

/** Most operands kept; an operator has at most 33 (DeviceN colours), and the oldest are dropped. */
const MAX_OPERANDS = 64;

/** @throws PdfSyntaxError for malformed content */
export function* operationsIn(bytes: Buffer): Generator<Operation> {
  let operands: ByteSlice[] = [];
  for (let at = skipSpace(bytes, 0); at < bytes.length; at = skipSpace(bytes, at)) {
    const end = endOfToken(bytes, at);
    if (isOperand(bytes, at)) {
      if (operands.length === MAX_OPERANDS) operands.shift();
      operands.push({ bytes, at: -1, start: at, end });
      at = end;
      continue;
    }
    const operator = bytes.toString('latin1', at, end);
    at = operator === 'BI' ? endOfPicture(bytes, end) : end;
    yield { operator, operands };
    operands = [];
  }
}

function endOfToken(bytes: Buffer, at: number): number {
  const end = skipValue(bytes, at);
  if (end === at) throw new PdfSyntaxError('A content stream holds a byte that belongs to nothing.');
  return end;
}

/** True for an operand: operators begin with a letter or a quote; `true`, `false` and `null` are operands. */
function isOperand(bytes: Buffer, at: number): boolean {
  const byte = bytes[at] as number;
  const isWord = (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);
  if (!isWord) return byte !== 0x27 && byte !== 0x22;
  const word = bytes.toString('latin1', at, skipRegular(bytes, at));
  return word === 'true' || word === 'false' || word === 'null';
}

/**
 * Returns the index after `EI` (8.9.7), which must be between white space or at the end. Programs find it in ways of their
 * own: an earlier one, or data of another length than its dictionary says, could end the picture elsewhere.
 * @throws PdfSyntaxError
 */
function endOfPicture(bytes: Buffer, from: number): number {
  const length = plainLength(bytes, from);
  for (let at = bytes.indexOf('EI', from, 'latin1'); at >= 0; at = bytes.indexOf('EI', at + 2, 'latin1')) {
    if (!endsToken(bytes[at + 2]) || (length !== undefined && at < length)) continue;
    const before = bytes[at - 1] as number;
    if (before !== 0x0a && before !== 0x0d && before !== 0x20 && at !== length) break;
    if (length !== undefined && skipSpace(bytes, length) < at) break;
    return at + 2;
  }
  throw new PdfSyntaxError('A picture in a content stream has no certain end.');
}

const COMPONENTS: Readonly<Record<string, number>> = {
  G: 1,
  DeviceGray: 1,
  RGB: 3,
  DeviceRGB: 3,
  CMYK: 4,
  DeviceCMYK: 4,
};

/** Returns the index after the data of a picture without filters; undefined where its length cannot be told. */
function plainLength(bytes: Buffer, from: number): number | undefined {
  const entries = new Map<string, string>();
  let key: string | undefined;
  let at = skipSpace(bytes, from);
  for (; at < bytes.length; at = skipSpace(bytes, at)) {
    const end = endOfToken(bytes, at);
    const token = bytes.toString('latin1', at, end);
    at = end;
    if (token === 'ID') break;
    if (key === undefined) key = token.slice(1);
    else {
      entries.set(key, token);
      key = undefined;
    }
  }
  const value = (short: string, long: string): string | undefined => entries.get(short) ?? entries.get(long);
  if (value('F', 'Filter') !== undefined) return undefined;
  const isMask = value('IM', 'ImageMask') === 'true';
  const components = isMask ? 1 : COMPONENTS[value('CS', 'ColorSpace')?.slice(1) ?? ''];
  const bits = isMask ? 1 : Number(value('BPC', 'BitsPerComponent'));
  const width = Number(value('W', 'Width'));
  const height = Number(value('H', 'Height'));
  if (components === undefined || !(width * height * bits > 0)) return undefined;
  return at + 1 + height * Math.ceil((width * components * bits) / 8);
}
