/**
 * A PDF on its way from input to output, with the incremental updates that were added so far. The original is read
 * and hashed once, however many updates follow, and memory holds the updates alone.
 */
import { createHash, type Hash } from 'node:crypto';
import { openSource, type Source, WHOLE_LIMIT } from '../files/source.ts';
import { createTarget, type Target } from '../files/target.ts';
import type { ByteSource } from '../pdf/index.ts';
import { CryptoError, type DigestName, type SignedFile } from '../types.ts';
import type { PreparedUpdate } from './signature-dictionary.ts';

/** As `openSource`. @throws {CryptoError} also `input.empty` */
export function openPdfFile(path: string): Source {
  const source = openSource(path);
  if (source.size > 0) return source;
  source.close();
  throw new CryptoError('input.empty', 'The file to sign is empty.');
}

export class GrowingPdf implements ByteSource {
  readonly #source: Source;
  readonly #target: Target;
  readonly #running = new Map<DigestName, Hash>();
  readonly #updates: Buffer[] = [];
  readonly #inputDigest: string;
  #size: number;

  /**
   * Creates the output and reads the input through. A large one is copied at once, a small one goes out together with
   * its updates in one call.
   * @param source stays the caller's to close
   * @param digests those that `digestAround` will be asked for
   * @throws {CryptoError} `input.*`, `output.*`; there is no output then
   */
  constructor(source: Source, output: string, digests: readonly DigestName[]) {
    this.#source = source;
    this.#size = source.size;
    for (const name of new Set<DigestName>(['sha256', ...digests])) {
      this.#running.set(name, createHash(name));
    }
    this.#target = createTarget(output);
    try {
      for (const chunk of source.chunks()) {
        for (const hash of this.#running.values()) hash.update(chunk);
        if (!this.#isSmall) this.#target.write(chunk);
      }
      this.#inputDigest = this.#hash('sha256').digest('hex');
    } catch (error) {
      this.#target.discard();
      throw error;
    }
  }

  get #isSmall(): boolean {
    return this.#source.size <= WHOLE_LIMIT;
  }

  get size(): number {
    return this.#size;
  }

  /** Lower-case hex SHA-256 of the input. */
  get inputDigest(): string {
    return this.#inputDigest;
  }

  /** The bytes of the input and of the updates behind it. */
  read(offset: number, length: number): Buffer {
    const end = Math.min(offset + length, this.#size);
    let at = this.#source.size;
    if (end <= at) return this.#source.read(offset, length);
    const parts = offset < at ? [this.#source.read(offset, at - offset)] : [];
    for (const update of this.#updates) {
      const from = Math.max(offset, at);
      if (from < at + update.length && from < end) parts.push(update.subarray(from - at, end - at));
      at += update.length;
    }
    const [only = Buffer.alloc(0)] = parts;
    return parts.length < 2 ? only : Buffer.concat(parts);
  }

  /** Digest of everything so far and of an update, but not of the space for the signature in it. */
  digestAround({ update, holeStart, holeEnd }: PreparedUpdate, digest: DigestName): Buffer {
    return this.#hash(digest).update(update.subarray(0, holeStart)).update(update.subarray(holeEnd)).digest();
  }

  append(update: Buffer): void {
    for (const hash of this.#running.values()) hash.update(update);
    this.#updates.push(update);
    this.#size += update.length;
  }

  /**
   * Writes the updates.
   * @param sync whether to wait until all bytes are on the disk
   * @throws {CryptoError} `output.unwritable`, `input.changed`; `discard` is still to be called then
   */
  finish(sync: boolean): SignedFile {
    const source = this.#source;
    if (this.#isSmall) this.#target.write(source.read(0, source.size), ...this.#updates);
    else if (this.#updates.length > 0) this.#target.write(...this.#updates);
    source.assertUnchanged();
    if (sync) this.#target.sync();
    this.#target.close();
    return {
      input: {
        sha256: this.#inputDigest,
        length: source.size,
        mtimeMs: source.mtimeMs,
        inode: source.inode,
      },
      output: { sha256: this.#hash('sha256').digest('hex'), length: this.#size },
    };
  }

  /** Removes the output; does nothing after a `finish` that went well. */
  discard(): void {
    this.#target.discard();
  }

  #hash(digest: DigestName): Hash {
    const running = this.#running.get(digest);
    if (running === undefined) throw new Error(`${digest} was not asked for when the file was read.`);
    return running.copy();
  }
}
