/**
 * Requests that do not fit their schema, as the portal tells them.
 *
 * Source: portal-gaps §2, "400 body".
 */
import type { z } from 'zod';
import { PortalRefusal, type PortalRefusalCode } from '../../machines/portal-refusals.ts';

/** What a schema of the portal says of a member that is missing, null or empty. */
export const REQUIRED = 'is required';

/**
 * Checks `value` by `schema`, whose messages go on after `The <Name> field`.
 * Refusals: `code`; `BadRequest` with every member that does not fit.
 */
export function fitted<T>(schema: z.ZodType<T>, value: unknown, code: PortalRefusalCode): T {
  const result = schema.safeParse(value, { reportInput: true });
  if (result.success) return result.data;
  if (code !== 'BadRequest') throw new PortalRefusal(code);
  // Without a prototype: a client may call a member anything, `toString` too.
  const errors: Record<string, string[]> = Object.create(null);
  for (const issue of result.error.issues) {
    const member = memberName(issue.path);
    errors[member] = [...(errors[member] ?? []), sentence(issue)];
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
