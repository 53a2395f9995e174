/** The portal's way to read requests and to refuse them. Source: portal-gaps §§1 and 2. */
import type { Conventions } from '../conventions.ts';
import { readPortalJson } from './json-body.ts';
import { portalCode, portalProblem, portalProblemBody } from './problem.ts';
import { fitted } from './unfit.ts';

export const portalConventions: Conventions = {
  problemType: 'application/json; charset=utf-8',
  problemFrom: portalProblem,
  problemBody: portalProblemBody,
  readQuery: readPortalQuery,
  readJson: readPortalJson,
  check: (schema, value, code) => fitted(schema, value, portalCode(code)),
};

/**
 * Name in lower case → value. A value that is empty or the text `null` counts as absent; of several the last counts.
 * Source: portal-gaps §1 rows 5 and 6.
 */
export function readPortalQuery(text: string | undefined): { readonly [name: string]: string } {
  const query: Record<string, string> = Object.create(null);
  for (const [name, value] of new URLSearchParams(text ?? '')) {
    if (value !== '' && value !== 'null') query[name.toLowerCase()] = value;
  }
  return query;
}
