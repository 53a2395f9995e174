/**
 * An output PDF: the input with the incremental updates so far. The input is read
 * and hashed once for any number of updates, and only the updates are in memory.
 */
import { createHash, type Hash } from 'node:crypto';
import { createTarget, IN_MEMORY_BYTES, openSource, type Source, type Target } from '../core/files.ts';
import { CryptoError, type DigestName, type SignedFile } from '../core/types.ts';
import type { ByteSource } from '../pdf/index.ts';
import type { PreparedUpdate } from './fields/signatures.ts';

/** Opens the input as `openSource`. @throws {CryptoError} also `input.empty` */
export function openIncrementalFile(path: string, password?: string): Source {
  const source = openSource(path, password);
  if (source.size > 0) return source;
  source.close();
  throw new CryptoError('input.empty', 'The file to sign is empty.');
}

export class IncrementalFile implements ByteSource {
  readonly #source: Source;
  readonly #target: Target;
  readonly #running = new Map<DigestName, Hash>();
  readonly #updates: Buffer[] = [];
  readonly #inputDigest: string;
  #size: number;

  /**
   * Creates the output and reads the input. A large input is copied at once, a small one is written together with
   * its updates in one call.
   * @param source the caller closes it
   * @param digests that `digestAround` will be called with
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
    return this.#source.size <= IN_MEMORY_BYTES;
  }

  get password(): string | undefined {
    return this.#source.password;
  }

  get size(): number {
    return this.#size;
  }

  /** Lower-case hex SHA-256 of the input. */
  get inputDigest(): string {
    return this.#inputDigest;
  }

  /** Reads bytes of the input and of the updates after it. */
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

  /** Computes the digest of the file so far and of an update, without the placeholder in it. */
  digestAround({ update, placeholderStart, placeholderEnd }: PreparedUpdate, digest: DigestName): Buffer {
    return this.#hash(digest)
      .update(update.subarray(0, placeholderStart))
      .update(update.subarray(placeholderEnd))
      .digest();
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

/**
 * Writes the output with the updates that `append` gives it. There is no output when this rejects.
 * @param digests as for `IncrementalFile`
 */
export async function writeIncremental(
  source: Source,
  { output, sync = true }: { readonly output: string; readonly sync?: boolean },
  digests: readonly DigestName[],
  append: (file: IncrementalFile) => Promise<void>,
): Promise<SignedFile> {
  const file = new IncrementalFile(source, output, digests);
  try {
    await append(file);
    return file.finish(sync);
  } catch (error) {
    file.discard();
    throw error;
  }
}
