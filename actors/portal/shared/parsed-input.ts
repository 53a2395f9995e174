/** Refuses invalid requests in the portal's form. Source: docs/portal-values.md §2. */
import { readInput } from '../../../contracts/input.ts';
import type { PortalRefusalCode } from '../../../contracts/portal/refusals.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';

/** Parses `value` by `schema`. Refusals: `code`; `BadRequest` with the faults; those of bounds if there are no others. */
export function parsedInput<T>(
  schema: Parameters<typeof readInput<T>>[0],
  value: unknown,
  code: PortalRefusalCode = 'BadRequest',
): T {
  const read = readInput(schema, value);
  if ('value' in read) return read.value;
  if (code !== 'BadRequest') throw new PortalRefusal(code);
  const { faults } = read;
  if ('bound' in faults)
    throw new PortalRefusal(faults.bound.code as PortalRefusalCode, faults.bound.message);
  const { errors } = faults;
  throw new PortalRefusal(code, Object.values(errors)[0]?.[0], { errors });
}
