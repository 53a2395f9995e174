/** One central file header of a ZIP file (APPNOTE §4.3.12), parsed and checked by itself. */
import { ZipError } from './zip-error.ts';
import { nameOf, printableName } from './zip-names.ts';
import {
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
export function memberHeader(bytes: Buffer, at: number): FoundHeader {
  if (bytes.length - at < LENGTH.central || bytes.readUInt32LE(at) !== SIGNATURE.central) {
    throw new ZipError('malformed', 'The directory is cut short.');
  }
  const nameAt = at + LENGTH.central;
  const extraAt = nameAt + bytes.readUInt16LE(at + 28);
  const commentAt = extraAt + bytes.readUInt16LE(at + 30);
  const next = commentAt + bytes.readUInt16LE(at + 32);
  if (next > bytes.length) throw new ZipError('malformed', 'The directory is cut short.');
  const nameBytes = bytes.subarray(nameAt, extraAt);
  const name = nameOf(nameBytes);
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

/** Reads the ZIP64 extra field: the values that the header moves there, in this order (§4.5.3). */
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
  const volume = field !== undefined && field.length >= at + 4 && at > 0 && field.readUInt32LE(at) !== 0;
  return [size ?? 0, compressed ?? 0, start ?? 0, volume];
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
export function assertNoOtherName(fields: ReadonlyMap<number, Buffer>, name: Buffer): void {
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
