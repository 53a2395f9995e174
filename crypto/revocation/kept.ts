import { createHash } from 'node:crypto';

/**
 * Keeps what was parsed from bytes, the latest few, so that the same answer in many files is read once.
 * @param most values kept; the oldest go first
 * @param mostBytes of the encodings they were parsed from
 */
export function keepParsed<T extends object>(
  parse: (der: Buffer) => T,
  { most, mostBytes }: { readonly most: number; readonly mostBytes: number },
): (der: Buffer) => T {
  const kept = new Map<string, { readonly value: T; readonly length: number }>();
  let bytes = 0;
  // Answers that are handed around as they came need no second digest; nobody writes into a buffer he handed over.
  // That they can't be read is remembered too: a file may hold thousands of such, and be asked about each many times.
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
    const known = kept.get(key);
    if (known !== undefined) return known.value;
    // A copy: the bytes may lie in a buffer that is used again.
    const value = parse(Buffer.from(der));
    kept.set(key, { value, length: der.length });
    bytes += der.length;
    for (const [oldest, { length }] of kept) {
      if (kept.size <= most && bytes <= mostBytes) break;
      kept.delete(oldest);
      bytes -= length;
    }
    return value;
  }
}
