import { createHash } from 'node:crypto';
import { hashNamed } from '../cms/hashes.ts';

/** The digest of what a time-stamp has to cover, by the name of a hash function; undefined for one not known here. */
export type ImprintSource = (algorithm: string) => Buffer | undefined;

/** Source for bytes at hand; several parts count as one. */
export function imprintOf(...parts: readonly Uint8Array[]): ImprintSource {
  return (algorithm) => {
    const name = hashNamed(algorithm);
    if (name === undefined) return undefined;
    const hash = createHash(name);
    for (const part of parts) hash.update(part);
    return hash.digest();
  };
}
