/**
 * Digests of what several signatures cover, in one pass over the file.
 */
import { createHash, type Hash } from 'node:crypto';
import type { HashName } from '../cms/hashes.ts';
import type { Source } from '../files/source.ts';
import type { Coverage } from './signatures.ts';

export interface RangeDigests {
  /** In the order of the ranges. */
  readonly ranges: readonly Buffer[];
  /** Of the first bytes of the file. */
  readonly prefix: Buffer;
}

/**
 * @param ranges sorted, none empty; each ends where the next one's gap begins or before, so that every byte is
 * hashed twice at most
 * @param prefixLength bytes at the beginning that are asked for as well; at most the size of the file
 */
export function digestRanges(
  source: Source,
  digest: HashName,
  ranges: readonly Coverage[],
  prefixLength: number,
): RangeDigests {
  const cuts = [prefixLength, ...ranges.flatMap(({ holeStart, holeEnd, end }) => [holeStart, holeEnd, end])];
  const ends = [...new Set(cuts)].sort((left, right) => left - right);
  const lastFork = Math.max(prefixLength, ranges.at(-1)?.holeStart ?? 0);
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
    // The next gap may begin where a range has just ended.
    if (at === ranges[found.length]?.holeStart) tail = running.copy();
  };

  pass();
  for (const chunk of source.chunks(0, ends.at(-1) ?? 0)) {
    for (let from = 0; from < chunk.length; ) {
      const cut = ends.find((end) => end > at) ?? at + chunk.length;
      const to = Math.min(chunk.length, from + cut - at);
      const bytes = chunk.subarray(from, to);
      const range = ranges[found.length];
      if (at < lastFork) running.update(bytes);
      if (range !== undefined && at >= range.holeEnd) tail?.update(bytes);
      at += bytes.length;
      from = to;
      pass();
    }
  }
  return { ranges: found, prefix: prefix ?? running.digest() };
}
