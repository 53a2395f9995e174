/** Patterns of names that a watched folder ignores. */

/**
 * True for a name that ends with one of the extensions (`.tmp`, case-insensitive) or starts with one of the prefixes
 * (`~$`, case-sensitive).
 */
export function createIgnoredNames(
  extensions: readonly string[],
  prefixes: readonly string[],
): (fileName: string) => boolean {
  const endings = extensions
    .filter((extension) => extension !== '' && extension !== '.')
    .map((extension) => (extension.startsWith('.') ? extension : `.${extension}`).toLowerCase());
  const starts = prefixes.filter((prefix) => prefix !== '');
  return (fileName) => {
    const lower = fileName.toLowerCase();
    return (
      endings.some((ending) => lower.endsWith(ending)) || starts.some((start) => fileName.startsWith(start))
    );
  };
}
