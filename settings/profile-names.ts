/**
 * Profiles by name in variables: `Signing:Profiles:invoices:…` stands for `Signing:Profiles:<index of invoices>:…`,
 * because indexes shift when entries are put in another order.
 *
 * Source: batch-gaps §5, after "Smallest useful file".
 */
const PREFIX = 'signing:profiles:';

/** The name in a key below `Signing:Profiles`; undefined for an index, and for any other key. */
export function profileNameIn(key: string): string | undefined {
  if (!key.toLowerCase().startsWith(PREFIX)) return undefined;
  const [name = '', ...members] = key.slice(PREFIX.length).split(':');
  return members.length > 0 && !/^\d+$/.test(name) ? name : undefined;
}

/**
 * The key by index.
 * @param entries what the sources said of names so far, by lower-case key
 * @returns undefined when no profile has the name; `_` also stands for the `-` of a name, which shells refuse
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
