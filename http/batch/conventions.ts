/** Conventions of the batch service for requests and refusals. Source: docs/batch-values.md §2. */
import { Refusal, type RefusalCode } from '../../machines/refusals.ts';
import { notFoundPage } from '../../web/pages/batch/not-found.tsx';
import { isPagePath } from '../core/accept.ts';
import { fingerprintOf, readJson, SMALL_BODY_BYTES } from '../core/body/json-body.ts';
import { checked } from '../core/checked.ts';
import type { Conventions } from '../core/conventions.ts';
import { problemBody, problemFrom } from '../core/problem.ts';
import { page } from '../core/reply.ts';
import { parseQuery } from '../core/router.ts';

export const batchConventions: Conventions = {
  problemType: 'application/problem+json',
  problemFrom,
  problemBody,
  readQuery: parseQuery,
  bodyLimit: () => SMALL_BODY_BYTES,
  async readJson({ route, stream, contentType }) {
    // Where a reason is accepted, no other member can be long.
    const takesReason = route.refusals.includes('validation.reason-too-long');
    const tooLarge = takesReason ? 'validation.reason-too-long' : 'validation.body-invalid';
    const given = await readJson(stream, contentType, tooLarge);
    const value = checked(route.body, given, route.invalidInput.body as RefusalCode);
    return { value, fingerprint: () => fingerprintOf(given) };
  },
  encodedBody: () =>
    new Refusal(
      'validation.encoding-unsupported',
      'Send the body without Content-Encoding: this service reads no compressed bodies.',
    ),
  notFoundPage: ({ path, header }) =>
    isPagePath(path, header('accept')) ? page(404, notFoundPage(path)) : undefined,
  // The routes of this service use only codes of its table.
  check: (schema, value, code) => checked(schema, value, code as RefusalCode),
};
