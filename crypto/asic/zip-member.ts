/** The bytes of one member, read as a file of its own. */
import { crc32, inflateRawSync } from 'node:zlib';
import { type Source, WHOLE_LIMIT } from '../files/source.ts';
import type { ZipEntry } from './zip-directory.ts';
import { ZipFault } from './zip-fault.ts';
import { shownName } from './zip-names.ts';
import { METHOD } from './zip-records.ts';

/**
 * Reads a stored member in pieces; a deflated one, whose length the directory bounds, is unpacked into memory each time.
 * What it reads has not been compared with its checksum (`assertIntact`).
 */
export function memberSource(archive: Source, entry: ZipEntry): Source {
  return entry.header.method === METHOD.stored
    ? new StoredMember(archive, entry)
    : new DeflatedMember(archive, entry);
}

/** Reads a whole member. @throws {ZipFault} `damaged` when checksum or length are not the announced ones */
export function assertIntact(archive: Source, entry: ZipEntry): void {
  const { header, name } = entry;
  let sum = 0;
  for (const piece of memberSource(archive, entry).chunks()) sum = crc32(piece, sum);
  if (sum !== header.crc32) throw new ZipFault('damaged', `The checksum of "${shownName(name)}" is wrong.`);
}

class StoredMember implements Source {
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly inode: string;
  readonly #archive: Source;
  readonly #start: number;

  constructor(archive: Source, { name, header, dataStart }: ZipEntry) {
    this.path = name;
    this.size = header.size;
    this.mtimeMs = archive.mtimeMs;
    this.inode = archive.inode;
    this.#archive = archive;
    this.#start = dataStart;
  }

  read(offset: number, length: number): Buffer {
    const from = Math.min(Math.max(offset, 0), this.size);
    return this.#archive.read(this.#start + from, Math.min(Math.max(length, 0), this.size - from));
  }

  chunks(from = 0, to = this.size): Iterable<Buffer> {
    return this.#archive.chunks(this.#start + from, this.#start + Math.min(to, this.size));
  }

  assertUnchanged(): void {
    this.#archive.assertUnchanged();
  }

  close(): void {}
}

class DeflatedMember implements Source {
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly inode: string;
  readonly #archive: Source;
  readonly #entry: ZipEntry;
  #whole: Buffer | undefined;

  constructor(archive: Source, entry: ZipEntry) {
    this.path = entry.name;
    this.size = entry.header.size;
    this.mtimeMs = archive.mtimeMs;
    this.inode = archive.inode;
    this.#archive = archive;
    this.#entry = entry;
  }

  read(offset: number, length: number): Buffer {
    const from = Math.min(Math.max(offset, 0), this.size);
    return this.#inflated().subarray(from, Math.min(from + Math.max(length, 0), this.size));
  }

  *chunks(from = 0, to = this.size): Generator<Buffer> {
    const bytes = this.#inflated();
    const end = Math.min(to, this.size);
    for (let at = from; at < end; at += WHOLE_LIMIT)
      yield bytes.subarray(at, Math.min(at + WHOLE_LIMIT, end));
  }

  assertUnchanged(): void {
    this.#archive.assertUnchanged();
  }

  close(): void {
    this.#whole = undefined;
  }

  #inflated(): Buffer {
    if (this.#whole !== undefined) return this.#whole;
    const bytes = inflated(this.#archive, this.#entry);
    // Only small ones stay: whoever holds many members would hold all of their bytes.
    if (bytes.length <= WHOLE_LIMIT) this.#whole = bytes;
    return bytes;
  }
}

function inflated(archive: Source, { name, header, dataStart }: ZipEntry): Buffer {
  const { compressed, size } = header;
  const packed = archive.read(dataStart, compressed);
  const { bytes, consumed } = inflate(packed, size, name);
  if (bytes.length === size && consumed === compressed) return bytes;
  throw new ZipFault('damaged', `"${shownName(name)}" unpacks to another length than announced.`);
}

function inflate(packed: Buffer, size: number, name: string): { bytes: Buffer; consumed: number } {
  try {
    // One byte more than announced is enough to know that it is too long.
    const result: unknown = inflateRawSync(packed, { maxOutputLength: size + 1, info: true });
    const { buffer, engine } = result as { buffer: Buffer; engine: { bytesWritten: number } };
    return { bytes: buffer, consumed: engine.bytesWritten };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new ZipFault('damaged', `"${shownName(name)}" can't be unpacked: ${code}.`);
  }
}
