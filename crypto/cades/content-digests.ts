/** Digests of a file, all taken in one pass. */
import { createHash } from 'node:crypto';
import type { Source } from '../files/source.ts';
import type { DigestName } from '../types.ts';

export interface ContentDigests {
  /** Lower-case hex. */
  readonly sha256: string;
  /** One of those asked for, or SHA-256. */
  of(digest: DigestName): Buffer;
  readonly all: ReadonlyMap<DigestName, Buffer>;
}

/**
 * @param digests besides SHA-256, which is always taken
 * @param onPiece is handed the bytes in order; a piece is only valid during the call
 * @throws {CryptoError} `input.unreadable`, `input.changed`
 */
export function hashSource(
  source: Source,
  digests: readonly DigestName[],
  onPiece?: (piece: Buffer) => void,
): ContentDigests {
  const names: readonly DigestName[] = ['sha256', ...digests];
  const hashes = new Map(names.map((name) => [name, createHash(name)]));
  for (const piece of source.chunks()) {
    for (const hash of hashes.values()) hash.update(piece);
    onPiece?.(piece);
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
