/** Digests of the ranges that the signatures of one file cover. */

import { createHash, type Hash } from 'node:crypto';
import type { Source } from '../core/files.ts';
import type { HashName } from '../x509/signature-algorithms.ts';
import type { Coverage, FoundSignature } from './fields/signatures.ts';

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
