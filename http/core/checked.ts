/** Parses request values by the schemas of their route. */
import type { z } from 'zod';
import { Refusal, type RefusalCode } from '../../machines/refusals.ts';

/** Maximum number of reported faults, and maximum length of a member's name and of a reason. */
const MAX_FAULTS = 20;
const MAX_NAME = 200;
const MAX_REASON = 500;

/** Parses `value` by `schema`; an invalid value is refused with `code` and, where allowed, the reasons. */
export function checked<T>(schema: z.ZodType<T>, value: unknown, code: RefusalCode): T {
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
