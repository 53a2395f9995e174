/** The content of one member as a source. */
import { crc32, inflateRawSync } from 'node:zlib';
import { IN_MEMORY_BYTES, memorySource, type Source, SourceRange } from '../core/files.ts';
import { readDirectory, type ZipEntry } from './zip-directory.ts';
import { ZipError } from './zip-error.ts';
import { printableName } from './zip-names.ts';
import { METHOD } from './zip-records.ts';

/**
 * Creates a source for a member: a stored one is read in chunks; a deflated one, whose length the directory limits,
 * is inflated into memory at each reading. The checksum is not verified here (`assertIntact`).
 */
export function memberSource(archive: Source, entry: ZipEntry): Source {
  return entry.header.method === METHOD.stored
    ? new SourceRange(archive, entry.name, entry.dataStart, entry.header.size)
    : new DeflatedMember(archive, entry);
}

/** Reads a whole member and verifies it. @throws {ZipError} `damaged` when checksum or length differ */
export function assertIntact(archive: Source, entry: ZipEntry): void {
  const { header, name } = entry;
  let sum = 0;
  for (const piece of memberSource(archive, entry).chunks()) sum = crc32(piece, sum);
  if (sum !== header.crc32)
    throw new ZipError('damaged', `The checksum of "${printableName(name)}" is wrong.`);
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
    for (let at = from; at < end; at += IN_MEMORY_BYTES)
      yield bytes.subarray(at, Math.min(at + IN_MEMORY_BYTES, end));
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
    // Only small content is cached, to limit the memory of callers with many members.
    if (bytes.length <= IN_MEMORY_BYTES) this.#whole = bytes;
    return bytes;
  }
}

function inflated(archive: Source, { name, header, dataStart }: ZipEntry): Buffer {
  const { compressed, size } = header;
  const packed = archive.read(dataStart, compressed);
  const { bytes, consumed } = inflate(packed, size, name);
  if (bytes.length === size && consumed === compressed) return bytes;
  throw new ZipError('damaged', `"${printableName(name)}" unpacks to another length than announced.`);
}

function inflate(packed: Buffer, size: number, name: string): { bytes: Buffer; consumed: number } {
  try {
    // One byte more than announced suffices to detect an excess length.
    const result: unknown = inflateRawSync(packed, { maxOutputLength: size + 1, info: true });
    const { buffer, engine } = result as { buffer: Buffer; engine: { bytesWritten: number } };
    return { bytes: buffer, consumed: engine.bytesWritten };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new ZipError('damaged', `"${printableName(name)}" can't be unpacked: ${code}.`);
  }
}

/** Members of a ZIP file in memory, each unpacked when it is read. */
export class ZipMembers {
  readonly #source: Source;
  readonly #entries: ReadonlyMap<string, ZipEntry>;

  /** @throws {ZipError} for files that two readers could interpret differently */
  constructor(archive: Buffer) {
    this.#source = memorySource('archive', archive);
    this.#entries = new Map(readDirectory(this.#source).entries.map((entry) => [entry.name, entry]));
  }

  /** Names in file order, folders included. */
  get names(): readonly string[] {
    return [...this.#entries.keys()];
  }

  /**
   * Reads a member and verifies length and checksum; undefined when there is none of this name.
   * @param limit maximum length, unpacked, in bytes
   * @throws {ZipError} `too-large` beyond the limit, `damaged`
   */
  read(name: string, limit: number): Buffer | undefined {
    const entry = this.#entries.get(name);
    if (entry === undefined) return undefined;
    if (entry.header.size > limit)
      throw new ZipError('too-large', `"${printableName(name)}" unpacks to more than ${limit} bytes.`);
    const bytes = memberSource(this.#source, entry).read(0, entry.header.size);
    if (crc32(bytes) !== entry.header.crc32)
      throw new ZipError('damaged', `The checksum of "${printableName(name)}" is wrong.`);
    return bytes;
  }
}
