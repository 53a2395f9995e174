/** Binary records of a ZIP file (PKWARE APPNOTE 6.3, §4.3 and §4.5.3): written, and partly read. */
import { ZipError } from './zip-error.ts';

export const SIGNATURE = {
  local: 0x04034b50,
  central: 0x02014b50,
  descriptor: 0x08074b50,
  end: 0x06054b50,
  end64: 0x06064b50,
  locator64: 0x07064b50,
} as const;

/** Length of the fixed part of each record, in bytes. */
export const LENGTH = { local: 30, central: 46, end: 22, end64: 56, locator64: 20 } as const;

/** Marker in a field of 32 or 16 bits: the value is in the ZIP64 record. */
export const IN_ZIP64 = 0xffffffff;
export const COUNT_IN_ZIP64 = 0xffff;

export const METHOD = { stored: 0, deflated: 8 } as const;

export const FLAG = {
  encrypted: 1 << 0,
  /** Data descriptor: checksum and lengths follow the member. */
  descriptor: 1 << 3,
  patched: 1 << 5,
  strongEncryption: 1 << 6,
  utf8: 1 << 11,
  maskedDirectory: 1 << 13,
} as const;

/** Identifiers of extra fields. */
export const EXTRA = { zip64: 0x0001, unicodePath: 0x7075 } as const;

/** Fields of a member in the directory. */
export interface MemberHeader {
  readonly madeBy: number;
  readonly needed: number;
  readonly flags: number;
  readonly method: number;
  /** Time and date in DOS format. */
  readonly time: number;
  readonly date: number;
  readonly crc32: number;
  readonly compressed: number;
  readonly size: number;
  readonly name: Buffer;
  /** Extra fields of the directory except ZIP64, unchanged. */
  readonly extra: Buffer;
  readonly comment: Buffer;
  readonly internalAttributes: number;
  readonly externalAttributes: number;
}

const VERSION_ZIP64 = 45;

function isLong(...values: readonly number[]): boolean {
  return values.some((value) => value >= IN_ZIP64);
}

/**
 * Builds a local file header (§4.3.7) with known checksum and lengths, without extra fields below 4 GiB.
 *
 * signature 4, version 2, flags 2, method 2, time 2, date 2, CRC-32 4, compressed size 4, size 4, name length 2,
 * extra length 2, name, extra
 */
export function localRecord(header: MemberHeader): Buffer {
  const { compressed, size, name } = header;
  const long = isLong(compressed, size);
  const extra = long ? zip64Extra(size, compressed) : Buffer.alloc(0);
  const fixed = Buffer.alloc(LENGTH.local);
  fixed.writeUInt32LE(SIGNATURE.local, 0);
  const at = writeShared(fixed, 4, { header, zip64: long });
  fixed.writeUInt16LE(name.length, at);
  fixed.writeUInt16LE(extra.length, at + 2);
  return Buffer.concat([fixed, name, extra]);
}

/** Builds a central file header (§4.3.12). @param offset of the local header */
export function centralRecord(header: MemberHeader, offset: number): Buffer {
  const { compressed, size, name, comment } = header;
  const long = isLong(compressed, size);
  const zip64 = [...(long ? [size, compressed] : []), ...(isLong(offset) ? [offset] : [])];
  const extra = zip64.length === 0 ? header.extra : Buffer.concat([zip64Extra(...zip64), header.extra]);
  const fixed = Buffer.alloc(LENGTH.central);
  fixed.writeUInt32LE(SIGNATURE.central, 0);
  fixed.writeUInt16LE(header.madeBy, 4);
  const at = writeShared(fixed, 6, { header, zip64: zip64.length > 0, long });
  fixed.writeUInt16LE(name.length, at);
  fixed.writeUInt16LE(extra.length, at + 2);
  fixed.writeUInt16LE(comment.length, at + 4);
  fixed.writeUInt16LE(header.internalAttributes, at + 8);
  fixed.writeUInt32LE(header.externalAttributes, at + 10);
  fixed.writeUInt32LE(isLong(offset) ? IN_ZIP64 : offset, at + 14);
  return Buffer.concat([fixed, name, extra, comment]);
}

/** Writes the fields shared by local and central headers. @returns the offset after them */
function writeShared(
  target: Buffer,
  at: number,
  {
    header,
    zip64,
    long = zip64,
  }: { readonly header: MemberHeader; readonly zip64: boolean; readonly long?: boolean | undefined },
): number {
  target.writeUInt16LE(zip64 ? Math.max(VERSION_ZIP64, header.needed) : header.needed, at);
  target.writeUInt16LE(header.flags, at + 2);
  target.writeUInt16LE(header.method, at + 4);
  target.writeUInt16LE(header.time, at + 6);
  target.writeUInt16LE(header.date, at + 8);
  target.writeUInt32LE(header.crc32, at + 10);
  target.writeUInt32LE(long ? IN_ZIP64 : header.compressed, at + 14);
  target.writeUInt32LE(long ? IN_ZIP64 : header.size, at + 18);
  return at + 22;
}

function zip64Extra(...values: readonly number[]): Buffer {
  const extra = Buffer.alloc(4 + 8 * values.length);
  extra.writeUInt16LE(EXTRA.zip64, 0);
  extra.writeUInt16LE(8 * values.length, 2);
  values.forEach((value, index) => {
    extra.writeBigUInt64LE(BigInt(value), 4 + 8 * index);
  });
  return extra;
}

/** Builds the end records (§4.3.14 to §4.3.16). @param directory its offset, length and member count */
export function endRecords(
  directory: { readonly offset: number; readonly length: number; readonly count: number },
  comment: Buffer,
): Buffer {
  const { offset, length, count } = directory;
  const long = isLong(offset, length) || count >= COUNT_IN_ZIP64;
  const end = Buffer.alloc(LENGTH.end);
  end.writeUInt32LE(SIGNATURE.end, 0);
  end.writeUInt16LE(long ? COUNT_IN_ZIP64 : count, 8);
  end.writeUInt16LE(long ? COUNT_IN_ZIP64 : count, 10);
  end.writeUInt32LE(long ? IN_ZIP64 : length, 12);
  end.writeUInt32LE(long ? IN_ZIP64 : offset, 16);
  end.writeUInt16LE(comment.length, 20);
  if (!long) return Buffer.concat([end, comment]);
  const end64 = Buffer.alloc(LENGTH.end64);
  end64.writeUInt32LE(SIGNATURE.end64, 0);
  end64.writeBigUInt64LE(BigInt(LENGTH.end64 - 12), 4);
  end64.writeUInt16LE(VERSION_ZIP64, 12);
  end64.writeUInt16LE(VERSION_ZIP64, 14);
  end64.writeBigUInt64LE(BigInt(count), 24);
  end64.writeBigUInt64LE(BigInt(count), 32);
  end64.writeBigUInt64LE(BigInt(length), 40);
  end64.writeBigUInt64LE(BigInt(offset), 48);
  const locator = Buffer.alloc(LENGTH.locator64);
  locator.writeUInt32LE(SIGNATURE.locator64, 0);
  locator.writeBigUInt64LE(BigInt(offset + length), 8);
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([end64, locator, end, comment]);
}

/** Reads a 64-bit number. @throws {ZipError} for a number above the range of file offsets */
export function readLong(bytes: Buffer, at: number): number {
  const value = bytes.readBigUInt64LE(at);
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new ZipError('malformed', 'A length is out of range.');
  return Number(value);
}

/** Reads extra fields by identifier. @throws {ZipError} when they do not fill the field, or one occurs twice */
export function readExtra(extra: Buffer): ReadonlyMap<number, Buffer> {
  const fields = new Map<number, Buffer>();
  for (let at = 0; at < extra.length; ) {
    // Some writers pad with zeros for alignment.
    if (extra.length - at < 4 && extra.subarray(at).every((byte) => byte === 0)) break;
    if (extra.length - at < 4) throw new ZipError('malformed', 'An extra field is cut short.');
    const id = extra.readUInt16LE(at);
    const end = at + 4 + extra.readUInt16LE(at + 2);
    if (end > extra.length) throw new ZipError('malformed', 'An extra field is longer than its room.');
    if (fields.has(id) && (id === EXTRA.zip64 || id === EXTRA.unicodePath)) {
      throw new ZipError('malformed', 'A member has the same extra field twice.');
    }
    fields.set(id, extra.subarray(at + 4, end));
    at = end;
  }
  return fields;
}

/** Converts a time to DOS date and time in UTC, clamped to 1980 .. 2107. */
export function dosTime(at: number): { readonly time: number; readonly date: number } {
  const clock = new Date(Math.min(Math.max(at, Date.UTC(1980, 0, 1)), Date.UTC(2107, 11, 31)));
  return {
    time: (clock.getUTCHours() << 11) | (clock.getUTCMinutes() << 5) | (clock.getUTCSeconds() >> 1),
    date: ((clock.getUTCFullYear() - 1980) << 9) | ((clock.getUTCMonth() + 1) << 5) | clock.getUTCDate(),
  };
}
