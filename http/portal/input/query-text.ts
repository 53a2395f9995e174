/** Query strings of the portal. */

/** A parameter that counts whatever it is: a broken filter must not list everything. */
const FILTER = 'filter';
/** Counts when it is empty: it begins a list by position. */
const CURSOR = 'cursor';

/**
 * Name in lower case → value. An empty value (but of `Cursor`) or the text `null` counts as absent, except as a `filter`;
 * of several values the last counts.
 * Source: docs/portal-values.md §1 rows 5 and 6.
 */
export function readPortalQuery(text: string | undefined): { readonly [name: string]: string } {
  const query: Record<string, string> = Object.create(null);
  for (const [name, value] of new URLSearchParams(text ?? '')) {
    const known = name.toLowerCase();
    const isGiven = value !== 'null' && (value !== '' || known === CURSOR);
    if (isGiven || known === FILTER) query[known] = value;
  }
  return query;
}
