/** Computes the digests of a file in one pass. */
import { createHash } from 'node:crypto';
import type { Source } from '../core/files.ts';
import type { DigestName } from '../core/types.ts';

export interface ContentDigests {
  /** Lower-case hex. */
  readonly sha256: string;
  /** Returns the digest of this name; it must be SHA-256 or one of those requested. */
  of(digest: DigestName): Buffer;
  readonly all: ReadonlyMap<DigestName, Buffer>;
}

/**
 * @param digests in addition to SHA-256, which is always computed
 * @param onChunk receives the bytes in order; a chunk is only valid during the call
 * @throws {CryptoError} `input.unreadable`, `input.changed`
 */
export function hashSource(
  source: Source,
  digests: readonly DigestName[],
  onChunk?: (chunk: Buffer) => void,
): ContentDigests {
  const names: readonly DigestName[] = ['sha256', ...digests];
  const hashes = new Map(names.map((name) => [name, createHash(name)]));
  for (const chunk of source.chunks()) {
    for (const hash of hashes.values()) hash.update(chunk);
    onChunk?.(chunk);
  }
  const all = new Map([...hashes].map(([name, hash]) => [name, hash.digest()]));
  return {
    sha256: all.get('sha256')?.toString('hex') ?? '',
    all,
    of(digest) {
      const found = all.get(digest);
      if (found === undefined) throw new RangeError(`${digest} was not asked for`);
      return found;
    },
  };
}
