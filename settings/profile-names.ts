/**
 * Profile names in variables: `Signing:Profiles:invoices:…` stands for `Signing:Profiles:<index of invoices>:…`,
 * because indexes change with the order of the entries.
 *
 * Source: docs/batch-values.md §5.
 */
const PREFIX = 'signing:profiles:';

/** Returns the name in a key below `Signing:Profiles`; undefined for an index, and for any other key. */
export function profileNameIn(key: string): string | undefined {
  if (!key.toLowerCase().startsWith(PREFIX)) return undefined;
  const [name = '', ...members] = key.slice(PREFIX.length).split(':');
  return members.length > 0 && !/^\d+$/.test(name) ? name : undefined;
}

/**
 * Returns the key by index.
 * @param entries names found in the sources so far, by lower-case key
 * @returns undefined when no profile has the name; `_` also stands for the `-` of a name, which shells do not allow
 */
export function keyByIndex(
  key: string,
  name: string,
  entries: ReadonlyMap<string, { readonly text: string | undefined }>,
): string | undefined {
  const wanted = name.toLowerCase().replaceAll('_', '-');
  for (const [declared, { text }] of entries) {
    const index = /^signing:profiles:(\d+):name$/.exec(declared)?.[1];
    if (index === undefined || text?.toLowerCase() !== wanted) continue;
    return `${key.slice(0, PREFIX.length)}${index}${key.slice(PREFIX.length + name.length)}`;
  }
  return undefined;
}
