/** Common properties of read-only routes for operators. */
import type { RefusalCode } from '../../machines/refusals.ts';
import { noBody, noQuery } from './queries.ts';

/** @param params code for a path that matches no resource */
export function withQueryLimit<Params extends RefusalCode>(params: Params) {
  return {
    method: 'GET',
    auth: 'operator',
    rate: 'none',
    bodyPolicy: 'none',
    headers: [],
    query: noQuery,
    body: noBody,
    invalidInput: { params, query: 'validation.filter-invalid', body: 'validation.body-invalid' },
  } as const;
}
