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
  const patterns = ignoredNames.filter((name) => name.includes('*')).map((name) => folded(name).split('*'));
  return (fileName) => {
    const name = folded(fileName);
    return (
      endings.some((ending) => name.endsWith(ending)) ||
      starts.some((start) => fileName.startsWith(start)) ||
      whole.has(name) ||
      patterns.some((pieces) => matches(name, pieces))
    );
  };
}

function folded(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** @param pieces what stands between the stars of a pattern; at least two */
function matches(name: string, pieces: readonly string[]): boolean {
  const [first = '', ...others] = pieces;
  const last = others.pop() ?? '';
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const piece of others) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return name.length >= at + last.length && name.endsWith(last);
}
