/**
 * An output PDF: the input with the incremental updates so far. The input is read and hashed once for any number of
 * updates, and only the updates are in memory.
 *
 * Digests of the ranges that the signatures of one file cover.
 */
import { createHash, type Hash } from 'node:crypto';
import { createTarget, IN_MEMORY_BYTES, openSource, type Source, type Target } from '../core/files.ts';
import {
  CryptoError,
  type DigestName,
  type InputFile,
  type OutputFile,
  type SignedFile,
} from '../core/types.ts';
import type { ByteSource } from '../pdf/index.ts';
import type { HashName } from '../x509/signature-algorithms.ts';
import type { Coverage, FoundSignature, PreparedUpdate } from './fields/signatures.ts';

/** Digests per algorithm; the first request computes those of all signatures in one pass. */
export class FileDigests {
  readonly #source: Source;
  readonly #signatures: readonly FoundSignature[];
  readonly #ranges: readonly Coverage[];
  readonly #prefixLength: number;
  readonly #made = new Map<HashName, RangeDigests>();

  constructor(source: Source, found: readonly FoundSignature[], prefixLength: number | undefined) {
    this.#source = source;
    this.#signatures = found.filter((signature, index) =>
      isHashable(signature, found[index + 1], source.size),
    );
    this.#ranges = this.#signatures.flatMap(({ coverage }) => coverage ?? []);
    this.#prefixLength = Math.min(prefixLength ?? 0, source.size);
  }

  /** Undefined for a signature whose coverage is invalid. */
  of(signature: FoundSignature): ((digest: HashName) => Buffer) | undefined {
    const index = this.#signatures.indexOf(signature);
    if (index < 0) return undefined;
    return (digest) => this.#for(digest).ranges[index] ?? Buffer.alloc(0);
  }

  /** SHA-256 of the first bytes of the file. */
  prefix(): Buffer {
    return this.#for('sha256').prefix;
  }

  #for(digest: HashName): RangeDigests {
    const cached = this.#made.get(digest);
    if (cached !== undefined) return cached;
    const digests = digestRanges(this.#source, digest, this.#ranges, this.#prefixLength);
    this.#made.set(digest, digests);
    return digests;
  }
}

/** True when the coverage is inside the file and ends before the next placeholder: the condition for a single pass. */
function isHashable(signature: FoundSignature, next: FoundSignature | undefined, size: number): boolean {
  const limit = next === undefined ? size : next.coverage?.placeholderStart;
  return signature.coverage !== undefined && limit !== undefined && signature.coverage.end <= limit;
}

/** Computes the digests of several overlapping coverages in one pass over the file. */
interface RangeDigests {
  /** In the order of `ranges`. */
  readonly ranges: readonly Buffer[];
  /** Digest of the first `prefixLength` bytes. */
  readonly prefix: Buffer;
}

/**
 * @param ranges sorted and not empty; each ends at or before the next placeholder, so that every byte is
 * hashed at most twice
 * @param prefixLength length of the additional prefix; at most the size of the file
 */
function digestRanges(
  source: Source,
  digest: HashName,
  ranges: readonly Coverage[],
  prefixLength: number,
): RangeDigests {
  const cuts = [
    prefixLength,
    ...ranges.flatMap(({ placeholderStart, placeholderEnd, end }) => [placeholderStart, placeholderEnd, end]),
  ];
  const ends = [...new Set(cuts)].sort((left, right) => left - right);
  const lastFork = Math.max(prefixLength, ranges.at(-1)?.placeholderStart ?? 0);
  const running = createHash(digest);
  const found: Buffer[] = [];
  let prefix: Buffer | undefined;
  let tail: Hash | undefined;
  let at = 0;

  const pass = () => {
    if (at === prefixLength) prefix = running.copy().digest();
    if (tail !== undefined && at === ranges[found.length]?.end) {
      found.push(tail.digest());
      tail = undefined;
    }
    // The next placeholder may begin at the end of a range.
    if (at === ranges[found.length]?.placeholderStart) tail = running.copy();
  };

  pass();
  for (const chunk of source.chunks(0, ends.at(-1) ?? 0)) {
    for (let from = 0; from < chunk.length; ) {
      const cut = ends.find((end) => end > at) ?? at + chunk.length;
      const to = Math.min(chunk.length, from + cut - at);
      const bytes = chunk.subarray(from, to);
      const range = ranges[found.length];
      if (at < lastFork) running.update(bytes);
      if (range !== undefined && at >= range.placeholderEnd) tail?.update(bytes);
      at += bytes.length;
      from = to;
      pass();
    }
  }
  return { ranges: found, prefix: prefix ?? running.digest() };
}

/** Opens the input as `openSource`. @throws {CryptoError} also `input.empty` */
export function openIncrementalFile(path: InputFile, password?: string): Source {
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
  constructor(source: Source, output: OutputFile, digests: readonly DigestName[]) {
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
  { output, sync = true }: { readonly output: OutputFile; readonly sync?: boolean },
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
