/**
 * Finds the signatures of a PDF by `/ByteRange` alone, without a parser (ISO 32000-2 §12.8.1), and verifies the CMS
 * over these bytes. Changes after signing are not checked.
 */
import { judgeCms } from './cms.ts';
import { type IndependentSignature, notComparable } from './types.ts';

const KEY = '/ByteRange';
const RANGE =
  /^\/ByteRange\s{0,16}\[\s{0,16}(\d{1,15})\s{1,16}(\d{1,15})\s{1,16}(\d{1,15})\s{1,16}(\d{1,15})\s{0,256}\]/;
/** Length limit of a `/ByteRange` entry, in characters. */
const RANGE_LENGTH = 512;
const MAX_SIGNATURES = 500;
/** Limit of bytes that the signatures hash; each hashes the file. */
const MAX_HASHED = 2 ** 32;

interface Range {
  readonly first: readonly [number, number];
  readonly second: readonly [number, number];
}

export async function judgePdf(file: Buffer, at: number): Promise<readonly IndependentSignature[]> {
  const ranges = rangesIn(file);
  if (ranges.length > MAX_SIGNATURES)
    return [notComparable(`There are more than ${MAX_SIGNATURES} signatures.`)];
  if (ranges.length * file.length > MAX_HASHED)
    return [notComparable(`The ${ranges.length} signatures cover more than ${MAX_HASHED} bytes together.`)];
  const judged: IndependentSignature[] = [];
  for (const { first, second } of ranges) {
    const der = contentsIn(file.subarray(first[1], second[0]));
    const data = Buffer.concat([file.subarray(0, first[1]), file.subarray(second[0], second[0] + second[1])]);
    if (der === undefined) judged.push(notComparable('The signature is not a hexadecimal string of DER.'));
    else judged.push(...(await judgeCms(der, data, at)));
  }
  return judged;
}

/** Lists the distinct byte ranges that start the file and exclude one string. */
function rangesIn(file: Buffer): readonly Range[] {
  const found = new Map<string, Range>();
  for (let at = file.indexOf(KEY); at >= 0; at = file.indexOf(KEY, at + KEY.length)) {
    const text = file.subarray(at, at + RANGE_LENGTH).toString('latin1');
    const numbers = RANGE.exec(text)?.slice(1, 5).map(Number) ?? [];
    const [a = 1, b = 0, c = 0, d = 0] = numbers;
    const fits = a === 0 && b > 0 && c > b && c + d <= file.length;
    // Excludes text that resembles an entry: a real one leaves out exactly its own `<…>`.
    if (fits && file[b] === 0x3c && file[c - 1] === 0x3e)
      found.set(numbers.join(' '), { first: [a, b], second: [c, d] });
    if (found.size > MAX_SIGNATURES) break;
  }
  return [...found.values()];
}

/** Decodes the DER in a hexadecimal string without padding; undefined for other content. */
function contentsIn(string: Buffer): Buffer | undefined {
  const bytes = Buffer.from(string.subarray(1, -1).toString('latin1').replace(/\s+/g, ''), 'hex');
  const length = derLength(bytes);
  // An indefinite length ends at its end-of-contents octets; padding zeros after it are ignored.
  return length === undefined ? undefined : bytes.subarray(0, length);
}

function derLength(bytes: Buffer): number | undefined {
  const [tag, first] = bytes;
  if (tag !== 0x30 || first === undefined) return undefined;
  if (first < 0x80) return 2 + first;
  const octets = first - 0x80;
  if (octets === 0) return bytes.length;
  return octets > 4 || bytes.length < 2 + octets ? undefined : 2 + octets + bytes.readUIntBE(2, octets);
}
