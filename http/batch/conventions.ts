/** The batch service's way to read requests and to refuse them. Source: batch-gaps §2. */
import type { RefusalCode } from '../../machines/refusals.ts';
import { checked } from '../checked.ts';
import type { Conventions } from '../conventions.ts';
import { readJson } from '../json-body.ts';
import { problemBody, problemFrom } from '../problem.ts';
import { parseQuery } from '../router.ts';

export const batchConventions: Conventions = {
  problemType: 'application/problem+json',
  problemFrom,
  problemBody,
  readQuery: parseQuery,
  readJson: (body, { contentType }) => readJson(body, contentType),
  // The routes of this service name codes of its table and no others.
  check: (schema, value, code) => checked(schema, value, code as RefusalCode),
};
