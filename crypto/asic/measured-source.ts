/** A file that is read once to be signed and once to be put into a container, and has to be the same both times. */
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Source } from '../files/source.ts';
import { CryptoError, type DigestName } from '../types.ts';

/** What is known of a file after the first reading. */
export interface Measure {
  readonly crc32: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

export class MeasuredSource implements Source {
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly inode: string;
  readonly #source: Source;
  #measure: Measure | undefined;
  readonly #digests = new Map<DigestName, Buffer>();

  constructor(source: Source, name = source.path) {
    this.path = name;
    this.size = source.size;
    this.mtimeMs = source.mtimeMs;
    this.inode = source.inode;
    this.#source = source;
  }

  /** Of the whole file; taken in a reading of its own when it was not read yet. */
  get measure(): Measure {
    if (this.#measure === undefined) for (const _ of this.chunks());
    if (this.#measure === undefined) throw changed(this.path);
    return this.#measure;
  }

  /** Of the whole file; read again only for a digest that was not asked for before. */
  digest(name: DigestName): Buffer {
    const known = this.#digests.get(name);
    if (known !== undefined) return known;
    if (name === 'sha256') return Buffer.from(this.measure.sha256, 'hex');
    const made = digestOfAll(this.chunks(), name);
    this.#digests.set(name, made);
    return made;
  }

  read(offset: number, length: number): Buffer {
    return this.#source.read(offset, length);
  }

  /** A reading of the whole file is measured, and compared with the first one. @throws {CryptoError} `input.changed` */
  *chunks(from = 0, to = this.size): Generator<Buffer> {
    if (from !== 0 || to < this.size) {
      yield* this.#source.chunks(from, to);
      return;
    }
    const hash = createHash('sha256');
    let sum = 0;
    for (const piece of this.#source.chunks()) {
      hash.update(piece);
      sum = crc32(piece, sum);
      yield piece;
    }
    const sha256 = hash.digest('hex');
    if (this.#measure !== undefined && this.#measure.sha256 !== sha256) throw changed(this.path);
    this.#measure = { crc32: sum, sha256 };
  }

  assertUnchanged(): void {
    this.#source.assertUnchanged();
  }

  close(): void {
    this.#source.close();
  }
}

/** The digest of a whole file. @throws {CryptoError} `input.unreadable`, `input.changed` */
export function digestOf(source: Source, name: DigestName): Buffer {
  return source instanceof MeasuredSource ? source.digest(name) : digestOfAll(source.chunks(), name);
}

function digestOfAll(pieces: Iterable<Buffer>, name: DigestName): Buffer {
  const hash = createHash(name);
  for (const piece of pieces) hash.update(piece);
  return hash.digest();
}

function changed(path: string): CryptoError {
  return new CryptoError('input.changed', `${path} changed while it was being read.`);
}
