/**
 * Conventions of the batch service: how values of requests are checked by the schemas of their route, and refused.
 * Source: docs/batch-values.md §2.
 */
import type { z } from 'zod';
import type { RefusalCode } from '../../contracts/batch/refusals.ts';
import { namingIgnored } from '../../contracts/ignored-members.ts';
import { Refusal } from '../../machines/refusals.ts';
import { notFoundPage } from '../../web/pages/batch/not-found.tsx';
import { isPagePath } from '../core/accept.ts';
import { fingerprintOf, readJson, SMALL_BODY_BYTES } from '../core/body/json-body.ts';
import type { Conventions } from '../core/conventions.ts';
import { problemBody, problemFrom } from '../core/problem.ts';
import { page } from '../core/reply.ts';
import { parseQuery } from '../core/router.ts';

/** Maximum number of reported faults, and maximum length of a member's name and of a reason. */
const MAX_FAULTS = 20;
const MAX_NAME = 200;
const MAX_REASON = 500;

/** Parses `value` by `schema`; an invalid value is refused with `code` and, where allowed, the reasons. */
function checked<T>(schema: z.ZodType<T>, value: unknown, code: RefusalCode): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  // No prototype: a client may name a member `toString`.
  const errors: Record<string, string[]> = Object.create(null);
  for (const issue of result.error.issues.slice(0, MAX_FAULTS)) {
    const member = String(issue.path[0] ?? '').slice(0, MAX_NAME);
    errors[member] = [...(errors[member] ?? []), issue.message.slice(0, MAX_REASON)];
  }
  const detail = Object.entries(errors)
    .map(([member, reasons]) => `${member} ${reasons.join(', ')}`)
    .join('; ');
  throw new Refusal(boundCode(result.error.issues) ?? code, detail, { errors });
}

/** The code of a value beyond a bound, where the request has no other fault. */
function boundCode(issues: readonly z.core.$ZodIssue[]): RefusalCode | undefined {
  const codes = issues.map((issue) =>
    issue.code === 'custom' ? issue.params?.['refusal']?.code : undefined,
  );
  return codes.includes(undefined) ? undefined : codes[0];
}

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
    const code = route.invalidInput.body as RefusalCode;
    const read = namingIgnored(given, () => checked(route.body, given, code));
    return { ...read, fingerprint: () => fingerprintOf(given) };
  },
  encodedBody: () =>
    new Refusal(
      'validation.encoding-unsupported',
      'Send the body without Content-Encoding: this service reads no compressed bodies.',
    ),
  notFoundPage: ({ status, path, header }) =>
    isPagePath(path, header('accept')) ? page(status, notFoundPage(path)) : undefined,
  // The routes of this service use only codes of its table.
  check: (schema, value, code) => checked(schema, value, code as RefusalCode),
};
