/** Ids of what an effect makes: the same for every try of the effect, so that a redo makes nothing twice. */
import { createHash } from 'node:crypto';

/** @param parts distinguished by position; not secret */
export function derivedId(...parts: readonly (string | number)[]): string {
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  // UUID version 8: custom bits (RFC 9562 §5.8).
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
}
