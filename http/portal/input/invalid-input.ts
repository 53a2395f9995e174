/**
 * Reports invalid requests in the portal's form.
 *
 * Source: docs/portal-values.md §2.
 */
import type { z } from 'zod';
import { PortalRefusal, type PortalRefusalCode } from '../../../machines/portal/portal-refusals.ts';

/** Message of the portal's schemas for a member that is missing, null or empty. */
export const REQUIRED = 'is required';

/** Maximum number of faults that are searched and reported. */
export const MAX_FAULTS = 20;
/** Maximum length of a member's name and of a sentence in a reply, characters. */
const MAX_NAME = 200;
const MAX_SENTENCE = 500;

/**
 * Parses `value` by `schema`, whose messages continue `The <Name> field`.
 * Refusals: `code`; `BadRequest` with the first `MAX_FAULTS` faults.
 */
export function parsedInput<T>(schema: z.ZodType<T>, value: unknown, code: PortalRefusalCode): T {
  const result = schema.safeParse(value, { reportInput: true });
  if (result.success) return result.data;
  if (code !== 'BadRequest') throw new PortalRefusal(code);
  // No prototype: a client may name a member `toString`.
  const errors: Record<string, string[]> = Object.create(null);
  for (const issue of result.error.issues.slice(0, MAX_FAULTS)) {
    const member = memberName(issue.path).slice(0, MAX_NAME);
    errors[member] = [...(errors[member] ?? []), sentence(issue).slice(0, MAX_SENTENCE)];
  }
  throw new PortalRefusal(code, Object.values(errors)[0]?.[0], { errors });
}

function sentence(issue: z.core.$ZodIssue): string {
  const isMissing = issue.code === 'invalid_type' && (issue.input === undefined || issue.input === null);
  const name = issue.path.findLast((step) => typeof step === 'string');
  const what = isMissing ? REQUIRED : issue.message;
  return name === undefined ? `The body ${what}.` : `The ${capital(String(name))} field ${what}.`;
}

/** `['files', 0, 'displayName']` → `Files[0].DisplayName`. */
function memberName(path: readonly PropertyKey[]): string {
  let name = '';
  for (const step of path) {
    if (typeof step === 'number') name += `[${step}]`;
    else name += `${name === '' ? '' : '.'}${capital(String(step))}`;
  }
  return name;
}

function capital(name: string): string {
  return `${name[0]?.toUpperCase() ?? ''}${name.slice(1)}`;
}
