/** Digests of the ranges that the signatures of one file cover. */
import type { HashName } from '../algorithms/hashes.ts';
import type { Source } from '../files/source.ts';
import type { Coverage, FoundSignature } from './fields/signatures.ts';
import { digestRanges, type RangeDigests } from './range-digests.ts';

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
