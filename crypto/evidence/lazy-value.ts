import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/**
 * Caches the latest parsed values, so that one response in many files is parsed once.
 * @param most limit of values
 * @param mostBytes limit of their encodings, in bytes
 */
export function memoizeParsed<T extends object>(
  parse: (der: Buffer) => T,
  { most, mostBytes }: { most: number; mostBytes: number },
): (der: Buffer) => T {
  const cache = new LRUCache<string, { readonly value: T; readonly length: number }>({
    max: most,
    maxSize: mostBytes,
    sizeCalculation: ({ length }) => length,
  });
  // Reuses the result for the same Buffer object without a digest; callers do not modify a buffer they passed. Errors
  // are cached too: a file can hold thousands of unreadable responses that are requested many times.
  const same = new WeakMap<Buffer, { readonly value: T } | { readonly error: unknown }>();
  return (der) => {
    let seen = same.get(der);
    if (seen === undefined) {
      seen = attempt(der);
      same.set(der, seen);
    }
    if ('error' in seen) throw seen.error;
    return seen.value;
  };

  function attempt(der: Buffer): { readonly value: T } | { readonly error: unknown } {
    try {
      return { value: byContent(der) };
    } catch (error) {
      return { error };
    }
  }

  function byContent(der: Buffer): T {
    const key = createHash('sha256').update(der).digest('base64');
    const cached = cache.get(key);
    if (cached !== undefined) return cached.value;
    // Copies the bytes: the caller's buffer may be reused.
    const value = parse(Buffer.from(der));
    cache.set(key, { value, length: der.length });
    return value;
  }
}
