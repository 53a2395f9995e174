/**
 * Digests of what the signatures of one file cover.
 */
import type { HashName } from '../cms/hashes.ts';
import type { Source } from '../files/source.ts';
import { digestRanges, type RangeDigests } from './range-digests.ts';
import type { Coverage, FoundSignature } from './signatures.ts';

/** Digests per algorithm, each made in one pass for all signatures when the first one asks for it. */
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

  /** Undefined for a signature whose coverage is not as it must be. */
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
    const known = this.#made.get(digest);
    if (known !== undefined) return known;
    const digests = digestRanges(this.#source, digest, this.#ranges, this.#prefixLength);
    this.#made.set(digest, digests);
    return digests;
  }
}

/** Coverage inside the file that ends before the next signature has its gap: what one pass can hash. */
function isHashable(signature: FoundSignature, next: FoundSignature | undefined, size: number): boolean {
  const limit = next === undefined ? size : next.coverage?.holeStart;
  return signature.coverage !== undefined && limit !== undefined && signature.coverage.end <= limit;
}
