/** Comparison of a local file header (APPNOTE §4.3.7) and its data descriptor (§4.3.9) with the directory. */
import type { Source } from '../files/source.ts';
import { assertNoOtherName } from './zip-entry.ts';
import { ZipError } from './zip-error.ts';
import { printableName } from './zip-names.ts';
import {
  EXTRA,
  FLAG,
  IN_ZIP64,
  LENGTH,
  type MemberHeader,
  readExtra,
  readLong,
  SIGNATURE,
} from './zip-records.ts';

interface Listed {
  readonly name: string;
  readonly header: MemberHeader;
  readonly start: number;
}

/**
 * Checks that a local header agrees with the directory.
 * @param next offset of the next member or of the directory
 * @throws {ZipError}
 */
export function assertAgrees(
  source: Source,
  { name, header, start }: Listed,
  next: number,
): { readonly dataStart: number; readonly plain: boolean } {
  const fixed = source.read(start, LENGTH.local);
  if (fixed.length < LENGTH.local || fixed.readUInt32LE(0) !== SIGNATURE.local) {
    throw new ZipError('malformed', `"${printableName(name)}" is not where the directory says.`);
  }
  const described = (header.flags & FLAG.descriptor) !== 0;
  const nameLength = fixed.readUInt16LE(26);
  const extraLength = fixed.readUInt16LE(28);
  const dataStart = start + LENGTH.local + nameLength + extraLength;
  if (dataStart + header.compressed > next) {
    throw new ZipError('overlap', `"${printableName(name)}" runs into what follows it.`);
  }
  const lengths = [fixed.readUInt32LE(14), fixed.readUInt32LE(18), fixed.readUInt32LE(22)] as const;
  const flagsAgree = fixed.readUInt16LE(6) === header.flags && fixed.readUInt16LE(8) === header.method;
  const rest = Buffer.from(source.read(start + LENGTH.local, nameLength + extraLength));
  const fields = readExtra(rest.subarray(nameLength));
  assertNoOtherName(fields, header.name);
  const agrees =
    flagsAgree &&
    rest.subarray(0, nameLength).equals(header.name) &&
    lengthsAgree(header, lengths, fields.get(EXTRA.zip64), described);
  if (!agrees) {
    throw new ZipError(
      'header-mismatch',
      `"${printableName(name)}" says other things of itself than the directory.`,
    );
  }
  const descriptorAt = dataStart + header.compressed;
  assertDescriptor(source, header, descriptorAt, next - descriptorAt, described);
  return { dataStart, plain: extraLength === 0 };
}

/** Compares the lengths: before a data descriptor, the header may omit them but not contradict them. */
function lengthsAgree(
  { crc32, compressed, size }: MemberHeader,
  [localCrc, localCompressed, localSize]: readonly [number, number, number],
  zip64: Buffer | undefined,
  described: boolean,
): boolean {
  const unsaid = (value: number): boolean => described && value === 0;
  const long = localCompressed === IN_ZIP64 || localSize === IN_ZIP64;
  if (long && (zip64 === undefined || zip64.length < 16)) return false;
  // A local ZIP64 field contains both lengths, uncompressed first (§4.5.3).
  const sizeHere = long && zip64 !== undefined && localSize === IN_ZIP64 ? readLong(zip64, 0) : localSize;
  const compressedHere =
    long && zip64 !== undefined && localCompressed === IN_ZIP64 ? readLong(zip64, 8) : localCompressed;
  return (
    (localCrc === crc32 || unsaid(localCrc)) &&
    (compressedHere === compressed || unsaid(compressedHere)) &&
    (sizeHere === size || unsaid(sizeHere))
  );
}

function assertDescriptor(
  source: Source,
  { crc32, compressed, size }: MemberHeader,
  at: number,
  length: number,
  described: boolean,
): void {
  if (length === 0 && !described) return;
  if (!described || ![12, 16, 20, 24].includes(length)) {
    throw new ZipError('hidden-bytes', 'There are bytes between members that belong to none.');
  }
  const bytes = source.read(at, length);
  const marked = length === 16 || length === 24;
  const from = marked ? 4 : 0;
  const long = length >= 20;
  const agrees =
    (!marked || bytes.readUInt32LE(0) === SIGNATURE.descriptor) &&
    bytes.readUInt32LE(from) === crc32 &&
    (long ? readLong(bytes, from + 4) : bytes.readUInt32LE(from + 4)) === compressed &&
    (long ? readLong(bytes, from + 12) : bytes.readUInt32LE(from + 8)) === size;
  if (!agrees) throw new ZipError('header-mismatch', 'What follows a member contradicts the directory.');
}
