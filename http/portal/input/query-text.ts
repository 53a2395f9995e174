/** Query strings of the portal. */

/** Parameters that count when they are empty: `Cursor` begins a list by position, and an empty `filter` is a fault. */
const KEPT: ReadonlySet<string> = new Set(['cursor', 'filter']);

/**
 * Name in lower case → value. An empty value (but of `Cursor` and `filter`) or the text `null` counts as absent; of several values
 * the last counts.
 * Source: docs/portal-values.md §1 rows 5 and 6.
 */
export function readPortalQuery(text: string | undefined): { readonly [name: string]: string } {
  const query: Record<string, string> = Object.create(null);
  for (const [name, value] of new URLSearchParams(text ?? '')) {
    const known = name.toLowerCase();
    if (value !== 'null' && (value !== '' || KEPT.has(known))) query[known] = value;
  }
  return query;
}
