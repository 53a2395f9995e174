/**
 * Reports invalid requests in the portal's form.
 *
 * Source: docs/portal-values.md §2.
 */
import type { z } from 'zod';
import { type BoundRefusal, MAX_FAULTS, REQUIRED } from '../../../contracts/fields.ts';
import { PortalRefusal, type PortalRefusalCode } from '../../../machines/portal/portal-refusals.ts';

/** Maximum length of a member's name and of a sentence in a reply, characters. */
const MAX_NAME = 200;
const MAX_SENTENCE = 500;

/**
 * Parses `value` by `schema`, whose messages continue `The <Name> field`.
 * Refusals: `code`; `BadRequest` with the first `MAX_FAULTS` faults; those of bounds if there are no others.
 */
export function parsedInput<T>(schema: z.ZodType<T>, value: unknown, code: PortalRefusalCode): T {
  const result = schema.safeParse(value, { reportInput: true });
  if (result.success) return result.data;
  if (code !== 'BadRequest') throw new PortalRefusal(code);
  const bounds = result.error.issues.map(boundRefusalOf);
  if (bounds.every((bound) => bound !== undefined) && bounds[0] !== undefined)
    throw new PortalRefusal(bounds[0].code as PortalRefusalCode, bounds[0].message);
  // No prototype: a client may name a member `toString`.
  const errors: Record<string, string[]> = Object.create(null);
  for (const issue of result.error.issues.slice(0, MAX_FAULTS)) {
    const member = memberName(issue.path).slice(0, MAX_NAME);
    errors[member] = [...(errors[member] ?? []), sentence(issue).slice(0, MAX_SENTENCE)];
  }
  throw new PortalRefusal(code, Object.values(errors)[0]?.[0], { errors });
}

function boundRefusalOf(issue: z.core.$ZodIssue): BoundRefusal | undefined {
  return issue.code === 'custom' ? issue.params?.['refusal'] : undefined;
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
