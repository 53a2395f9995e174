/** Computes the digests of several overlapping coverages in one pass over the file. */
import { createHash, type Hash } from 'node:crypto';
import type { HashName } from '../algorithms/hashes.ts';
import type { Source } from '../files/source.ts';
import type { Coverage } from './fields/signatures.ts';

export interface RangeDigests {
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
export function digestRanges(
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
