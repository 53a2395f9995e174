import { createHash } from 'node:crypto';
import { hashNamed } from '../algorithms/hashes.ts';

/** Computes the digest that a time-stamp must cover, by hash function; undefined for an unknown one. */
export type ImprintSource = (algorithm: string) => Buffer | undefined;

/** Creates a source over bytes in memory; several chunks are concatenated. */
export function imprintOf(...parts: readonly Uint8Array[]): ImprintSource {
  return (algorithm) => {
    const name = hashNamed(algorithm);
    if (name === undefined) return undefined;
    const hash = createHash(name);
    for (const part of parts) hash.update(part);
    return hash.digest();
  };
}
