/** A file that is read once for signing and once for writing, and must be the same both times. */

import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { changed, type Source } from '../core/files.ts';
import type { DigestName } from '../core/types.ts';

/** Measurement of a file in its first complete reading. */
interface Measurement {
  readonly crc32: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

export class HashingSource implements Source {
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly inode: string;
  readonly #source: Source;
  #measure: Measurement | undefined;
  readonly #digests = new Map<DigestName, Buffer>();

  constructor(source: Source, name = source.path) {
    this.path = name;
    this.size = source.size;
    this.mtimeMs = source.mtimeMs;
    this.inode = source.inode;
    this.#source = source;
  }

  /** Measurement of the whole file; reads it when it was not read yet. */
  get measure(): Measurement {
    if (this.#measure === undefined) for (const _ of this.chunks());
    if (this.#measure === undefined) throw changed(this.path);
    return this.#measure;
  }

  /** Digest of the whole file; reads it again only for a new algorithm. */
  digest(name: DigestName): Buffer {
    const cached = this.#digests.get(name);
    if (cached !== undefined) return cached;
    if (name === 'sha256') return Buffer.from(this.measure.sha256, 'hex');
    const made = digestOfAll(this.chunks(), name);
    this.#digests.set(name, made);
    return made;
  }

  read(offset: number, length: number): Buffer {
    return this.#source.read(offset, length);
  }

  /** Reads a range; a complete reading is compared with the first one. @throws {CryptoError} `input.changed` */
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

/** Digests a whole file. @throws {CryptoError} `input.unreadable`, `input.changed` */
export function digestOf(source: Source, name: DigestName): Buffer {
  return source instanceof HashingSource ? source.digest(name) : digestOfAll(source.chunks(), name);
}

function digestOfAll(pieces: Iterable<Buffer>, name: DigestName): Buffer {
  const hash = createHash(name);
  for (const piece of pieces) hash.update(piece);
  return hash.digest();
}
