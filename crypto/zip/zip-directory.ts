/**
 * Reads the directory of a ZIP file and refuses every file that two readers could interpret differently: the directory
 * must account for every byte before it exactly once, members must be contiguous, and each local header must agree with
 * it.
 *
 * One central file header of a ZIP file (APPNOTE §4.3.12), parsed and checked by itself.
 */
import type { Source } from '../core/files.ts';
import { ZipError } from './zip-error.ts';
import { foldedName, nameOf, printableName } from './zip-names.ts';
import {
  COUNT_IN_ZIP64,
  EXTRA,
  FLAG,
  IN_ZIP64,
  LENGTH,
  METHOD,
  type MemberHeader,
  readExtra,
  readLong,
  SIGNATURE,
} from './zip-records.ts';

interface FoundHeader {
  readonly name: string;
  readonly header: MemberHeader;
  /** Offset of the local header. */
  readonly start: number;
  /** Offset of the next record. */
  readonly next: number;
}

/** Reads a central file header. @throws {ZipError} */
function memberHeader(bytes: Buffer, at: number): FoundHeader {
  if (bytes.length - at < LENGTH.central || bytes.readUInt32LE(at) !== SIGNATURE.central) {
    throw new ZipError('malformed', 'The directory is cut short.');
  }
  const nameAt = at + LENGTH.central;
  const extraAt = nameAt + bytes.readUInt16LE(at + 28);
  const commentAt = extraAt + bytes.readUInt16LE(at + 30);
  const next = commentAt + bytes.readUInt16LE(at + 32);
  if (next > bytes.length) throw new ZipError('malformed', 'The directory is cut short.');
  const nameBytes = bytes.subarray(nameAt, extraAt);
  const name = nameOf(nameBytes, (bytes.readUInt16LE(at + 8) & FLAG.utf8) !== 0);
  const extra = bytes.subarray(extraAt, commentAt);
  const fields = readExtra(extra);
  assertNoOtherName(fields, nameBytes);
  const [size, compressed, start, volume] = longValues(fields.get(EXTRA.zip64), [
    bytes.readUInt32LE(at + 24),
    bytes.readUInt32LE(at + 20),
    bytes.readUInt32LE(at + 42),
  ]);
  const header: MemberHeader = {
    madeBy: bytes.readUInt16LE(at + 4),
    needed: bytes.readUInt16LE(at + 6),
    flags: bytes.readUInt16LE(at + 8),
    method: bytes.readUInt16LE(at + 10),
    time: bytes.readUInt16LE(at + 12),
    date: bytes.readUInt16LE(at + 14),
    crc32: bytes.readUInt32LE(at + 16),
    compressed,
    size,
    name: nameBytes,
    extra: withoutZip64(extra),
    comment: bytes.subarray(commentAt, next),
    internalAttributes: bytes.readUInt16LE(at + 36),
    externalAttributes: bytes.readUInt32LE(at + 38),
  };
  const ownVolume = bytes.readUInt16LE(at + 34);
  if (volume || (ownVolume !== 0 && ownVolume !== 0xffff)) {
    throw new ZipError('unsupported', 'The file is one of several volumes.');
  }
  assertPlain(name, header);
  return { name, header, start, next };
}

/**
 * Reads the ZIP64 extra field: the values that the header moves there, in this order (§4.5.3). Some readers use the field
 * whatever the header says, so further values in it must be those of the header.
 */
function longValues(
  field: Buffer | undefined,
  short: readonly [size: number, compressed: number, start: number],
): [size: number, compressed: number, start: number, volume: boolean] {
  let at = 0;
  const [size, compressed, start] = short.map((value) => {
    if (value !== IN_ZIP64) return value;
    if (field === undefined || field.length < at + 8) {
      throw new ZipError('malformed', 'A long value is not where it has to be.');
    }
    at += 8;
    return readLong(field, at - 8);
  });
  const hasMore = field !== undefined && field.length - at >= 8;
  if (hasMore && !saysThe(field, [size ?? 0, compressed ?? 0, start ?? 0]))
    throw new ZipError('header-mismatch', 'A member has other lengths in a ZIP64 field than in its header.');
  const volume =
    field !== undefined && at > 0 && field.length % 8 === 4 && field.readUInt32LE(field.length - 4) !== 0;
  return [size ?? 0, compressed ?? 0, start ?? 0, volume];
}

/** True when a ZIP64 field begins with these values, as far as it goes. @param isUnsaid value that says nothing */
function saysThe(
  field: Buffer,
  values: readonly number[],
  isUnsaid: (value: number) => boolean = () => false,
): boolean {
  return values.every((value, index) => {
    if (field.length < 8 * index + 8) return true;
    const said = readLong(field, 8 * index);
    return said === value || isUnsaid(said);
  });
}

function withoutZip64(extra: Buffer): Buffer {
  const kept: Buffer[] = [];
  for (let at = 0; at + 4 <= extra.length; ) {
    const end = at + 4 + extra.readUInt16LE(at + 2);
    if (extra.readUInt16LE(at) !== EXTRA.zip64) kept.push(extra.subarray(at, end));
    at = end;
  }
  return Buffer.concat(kept);
}

/** Refuses a second name: readers that support this field use the name in it instead. */
function assertNoOtherName(fields: ReadonlyMap<number, Buffer>, name: Buffer): void {
  const other = fields.get(EXTRA.unicodePath);
  if (other === undefined || other.subarray(5).equals(name)) return;
  throw new ZipError(
    'header-mismatch',
    `A member has another name beside "${printableName(name.toString())}".`,
  );
}

const UNIX = 3;
const FILE_TYPE = 0o170000;
const REGULAR = 0o100000;
const FOLDER = 0o040000;

function assertPlain(
  name: string,
  { madeBy, flags, method, externalAttributes, ...lengths }: MemberHeader,
): void {
  if ((flags & (FLAG.encrypted | FLAG.strongEncryption | FLAG.maskedDirectory)) !== 0) {
    throw new ZipError('encrypted', `"${name}" is encrypted.`);
  }
  if ((flags & FLAG.patched) !== 0 || (method !== METHOD.stored && method !== METHOD.deflated)) {
    throw new ZipError('unsupported', `"${name}" is packed by a method (${method}) that is not read.`);
  }
  // Readers on Unix use these bits for entries of every system.
  const type = (externalAttributes >>> 16) & FILE_TYPE;
  if (type !== 0 && type !== REGULAR && type !== FOLDER) {
    throw new ZipError('special-file', `"${name}" is neither a file nor a folder.`);
  }
  const isFolder = name.endsWith('/');
  if ((type === FOLDER && !isFolder) || (madeBy >> 8 === UNIX && type === REGULAR && isFolder)) {
    throw new ZipError('special-file', `"${name}" is a folder by name or by kind, but not by both.`);
  }
  const { size, compressed } = lengths;
  if (isFolder && size !== 0)
    throw new ZipError('special-file', `The folder "${name}" has bytes of its own.`);
  if (method === METHOD.stored && size !== compressed) {
    throw new ZipError('header-mismatch', `"${name}" is stored in fewer or more bytes than it has.`);
  }
}

/** Limit of members in one container; archives of a whole procedure have some hundreds. */
const MAX_MEMBERS = 20_000;
/** Size limit of the directory, in bytes. */
const MAX_DIRECTORY = 32 << 20;
/** Size limit of one inflated member in bytes; stored ones are read in chunks and may have any length. */
const MAX_INFLATED = 256 << 20;
/** Size limit of all inflated members together, in bytes. */
const MAX_INFLATED_TOGETHER = 1 << 30;
/** Limit of the compression ratio: text reaches 10, logs reach 50, only crafted members reach more. */
const MAX_RATIO = 250;
/** Inflated size below which the ratio is not checked. */
const MIN_RATIO_CHECK_BYTES = 4 << 20;

const MAX_COMMENT = 0xffff;

export interface ZipEntry {
  readonly name: string;
  readonly header: MemberHeader;
  /** Offset of the local header. */
  readonly start: number;
  /** Offset of the data. */
  readonly dataStart: number;
  /** Offset after the data and its data descriptor. */
  readonly end: number;
  /** True when the local header has no extra field. */
  readonly plain: boolean;
}

export interface ZipDirectory {
  /** Entries in file order, folders included. */
  readonly entries: readonly ZipEntry[];
  readonly comment: Buffer;
}

/**
 * Reads and checks the directory.
 *
 * end of central directory (§4.3.16): signature, disk numbers, entry counts, size, offset, comment
 * central file header (§4.3.12): signature, versions, flags, method, time, CRC-32, sizes, name, extra, comment, offset
 *
 * @throws {ZipError} for every defect
 * @throws {CryptoError} `input.unreadable`, `input.changed`
 */
export function readDirectory(source: Source): ZipDirectory {
  const end = findEnd(source);
  if (end.count > MAX_MEMBERS || end.length > MAX_DIRECTORY) {
    throw new ZipError(
      'too-large',
      `The file has ${end.count} members, or names that take ${end.length} bytes.`,
    );
  }
  const bytes = Buffer.from(source.read(end.offset, end.length));
  const found: { readonly name: string; readonly header: MemberHeader; readonly start: number }[] = [];
  let at = 0;
  for (let index = 0; index < end.count; index++) {
    const { next, ...entry } = memberHeader(bytes, at);
    found.push(entry);
    at = next;
  }
  if (at !== bytes.length) throw new ZipError('hidden-bytes', 'The directory holds more than its members.');
  found.sort((one, other) => one.start - other.start);
  assertDistinct(found);
  assertSizeLimits(found);
  const first = found[0]?.start ?? end.offset;
  if (first !== 0) throw new ZipError('hidden-bytes', 'There are bytes before the first member.');
  const entries = found.map((entry, index) => {
    const next = found[index + 1]?.start ?? end.offset;
    return { ...entry, ...assertAgrees(source, entry, next), end: next };
  });
  return { entries, comment: end.comment };
}

interface End {
  readonly offset: number;
  readonly length: number;
  readonly count: number;
  readonly comment: Buffer;
}

function findEnd(source: Source): End {
  const length = Math.min(source.size, LENGTH.end + MAX_COMMENT + LENGTH.locator64);
  const tailAt = source.size - length;
  const tail = Buffer.from(source.read(tailAt, length));
  for (let at = tail.length - LENGTH.end; at >= 0; at--) {
    if (tail.readUInt32LE(at) !== SIGNATURE.end) continue;
    if (tail.readUInt16LE(at + 20) !== tail.length - at - LENGTH.end) continue;
    return readEnd(source, tail, at, tailAt);
  }
  throw new ZipError(
    'malformed',
    'There is no directory at its end: this is no ZIP file, or not all of one.',
  );
}

/** Signatures of the records of a file, of the directory, and of both of its ends. */
const RECORDS = ['PK\x01\x02', 'PK\x03\x04', 'PK\x05\x06', 'PK\x06\x06', 'PK\x06\x07'];

function readEnd(source: Source, tail: Buffer, at: number, tailAt: number): End {
  const comment = tail.subarray(at + LENGTH.end);
  // Readers that search from the start, and programs that repair, would find another container.
  if (RECORDS.some((record) => comment.includes(record, 0, 'latin1'))) {
    throw new ZipError('hidden-bytes', 'The comment holds a part of another container.');
  }
  const short = {
    count: tail.readUInt16LE(at + 10),
    length: tail.readUInt32LE(at + 12),
    offset: tail.readUInt32LE(at + 16),
  };
  const volumes = [tail.readUInt16LE(at + 4), tail.readUInt16LE(at + 6)];
  const inOne = volumes.every((volume) => volume === 0 || volume === 0xffff);
  if (!inOne || tail.readUInt16LE(at + 8) !== short.count) {
    throw new ZipError('unsupported', 'The file is one of several volumes.');
  }
  const hasLocator =
    at >= LENGTH.locator64 && tail.readUInt32LE(at - LENGTH.locator64) === SIGNATURE.locator64;
  const end = hasLocator
    ? readEnd64(source, tail, { locatorAt: at - LENGTH.locator64, tailAt, short })
    : short;
  const after = hasLocator ? readLong(tail, at - LENGTH.locator64 + 8) : tailAt + at;
  if (end.offset + end.length !== after) {
    throw new ZipError('hidden-bytes', 'There are bytes around the directory that belong to nothing.');
  }
  return { ...end, comment };
}

type Place = Omit<End, 'comment'>;

function readEnd64(
  source: Source,
  tail: Buffer,
  {
    locatorAt,
    tailAt,
    short,
  }: { readonly locatorAt: number; readonly tailAt: number; readonly short: Place },
): Place {
  const at = readLong(tail, locatorAt + 8);
  if (tail.readUInt32LE(locatorAt + 4) !== 0 || tail.readUInt32LE(locatorAt + 16) > 1) {
    throw new ZipError('unsupported', 'The file is one of several volumes.');
  }
  const record = source.read(at, LENGTH.end64);
  const fits =
    at + LENGTH.end64 === tailAt + locatorAt &&
    record.length === LENGTH.end64 &&
    record.readUInt32LE(0) === SIGNATURE.end64 &&
    readLong(record, 4) === LENGTH.end64 - 12;
  if (!fits) throw new ZipError('malformed', 'The record about a large directory is not where it has to be.');
  const long = { count: readLong(record, 32), length: readLong(record, 40), offset: readLong(record, 48) };
  const agrees =
    readLong(record, 24) === long.count &&
    (short.count === COUNT_IN_ZIP64 || short.count === long.count) &&
    (short.length === IN_ZIP64 || short.length === long.length) &&
    (short.offset === IN_ZIP64 || short.offset === long.offset);
  if (!agrees)
    throw new ZipError('header-mismatch', 'The two records about the directory contradict each other.');
  return long;
}

function assertDistinct(entries: readonly { readonly name: string }[]): void {
  const seen = new Map<string, string>();
  for (const { name } of entries) {
    const folded = foldedName(name);
    const other = seen.get(folded);
    if (other !== undefined) {
      const how =
        other === name ? `Two members have the name "${name}"` : `"${other}" and "${name}" differ too little`;
      throw new ZipError('duplicate-name', `${how}.`);
    }
    seen.set(folded, name);
  }
}

function assertSizeLimits(
  entries: readonly { readonly name: string; readonly header: MemberHeader }[],
): void {
  let together = 0;
  for (const { name, header } of entries) {
    const { method, size, compressed } = header;
    if (method !== METHOD.deflated) continue;
    together += size;
    const grows = size > MIN_RATIO_CHECK_BYTES && size > compressed * MAX_RATIO;
    if (size <= MAX_INFLATED && together <= MAX_INFLATED_TOGETHER && !grows) continue;
    const lengths = `${compressed} bytes to ${size}`;
    throw new ZipError('too-large', `"${name}" would grow from ${lengths}, which is more than is unpacked.`);
  }
}

/** Comparison of a local file header (APPNOTE §4.3.7) and its data descriptor (§4.3.9) with the directory. */
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
function assertAgrees(
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
  assertDescriptor(source, header, { at: descriptorAt, length: next - descriptorAt, described });
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
  if (zip64 !== undefined && !saysThe(zip64, [size, compressed], unsaid)) return false;
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
  { at, length, described }: { readonly at: number; readonly length: number; readonly described: boolean },
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
