/**
 * Values of a request held against the schemas of its route.
 */
import type { z } from 'zod';
import { Refusal, type RefusalCode } from '../machines/refusals.ts';

/** Checks `value` by `schema`; what does not fit is refused with `code` and, where allowed, the reasons. */
export function checked<T>(schema: z.ZodType<T>, value: unknown, code: RefusalCode): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  // Without a prototype: a client may call a member anything, `toString` too.
  const errors: Record<string, string[]> = Object.create(null);
  for (const issue of result.error.issues) {
    const member = String(issue.path[0] ?? '');
    errors[member] = [...(errors[member] ?? []), issue.message];
  }
  const detail = Object.entries(errors)
    .map(([member, reasons]) => `${member} ${reasons.join(', ')}`)
    .join('; ');
  throw new Refusal(code, detail, { errors });
}
