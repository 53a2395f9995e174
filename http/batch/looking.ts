/** What routes that only show something to operators have in common. */
import type { RefusalCode } from '../../machines/refusals.ts';
import { noBody, noQuery } from './queries.ts';

/** @param params what is answered where the path names nothing */
export function looking<Params extends RefusalCode>(params: Params) {
  return {
    method: 'GET',
    auth: 'operator',
    rate: 'none',
    bodyPolicy: 'none',
    headers: [],
    query: noQuery,
    body: noBody,
    unfit: { params, query: 'validation.filter-invalid', body: 'validation.body-invalid' },
  } as const;
}
