/** Patterns of names that a watched folder ignores. */
import type { WatchedFolderSettings } from './contract.ts';

/**
 * True for a name that ends with one of the extensions (`.tmp`, case-insensitive), starts with one of the prefixes
 * (`~$`, case-sensitive) or matches one of the names (`Thumbs.db`, `*.part`, case-insensitive).
 */
export function createIgnoredNames({
  ignoredExtensions,
  ignoredPrefixes,
  ignoredNames,
}: Pick<WatchedFolderSettings, 'ignoredExtensions' | 'ignoredPrefixes' | 'ignoredNames'>): (
  fileName: string,
) => boolean {
  const endings = ignoredExtensions
    .filter((extension) => extension !== '' && extension !== '.')
    .map((extension) => (extension.startsWith('.') ? extension : `.${extension}`).toLowerCase());
  const starts = ignoredPrefixes.filter((prefix) => prefix !== '');
  const whole = new Set(ignoredNames.filter((name) => !name.includes('*')).map(folded));
  const patterns = ignoredNames.filter((name) => name.includes('*')).map(patternOf);
  return (fileName) => {
    // First, because it needs no folding: hidden names of uploads.
    if (starts.some((start) => fileName.startsWith(start))) return true;
    const name = folded(fileName);
    return (
      endings.some((ending) => name.endsWith(ending)) ||
      whole.has(name) ||
      patterns.some((pattern) => matches(name, pattern))
    );
  };
}

function folded(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** Parts before, between and after the stars of a name with stars. */
function patternOf(text: string) {
  const [first = '', ...others] = folded(text).split('*');
  return { first, last: others.pop() ?? '', others };
}

function matches(name: string, { first, last, others }: ReturnType<typeof patternOf>): boolean {
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const piece of others) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return name.length >= at + last.length && name.endsWith(last);
}
