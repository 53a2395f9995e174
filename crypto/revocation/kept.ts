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
  const same = new WeakMap<Buffer, T>();
  return (der) => {
    const seen = same.get(der);
    if (seen !== undefined) return seen;
    const value = byContent(der);
    same.set(der, value);
    return value;
  };

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
