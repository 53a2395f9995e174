/**
 * What the batch service's requests may ask for.
 *
 * Source: batch-gaps §2 ("Reason") and §3 (`GET /api/jobs`).
 */
import { z } from 'zod';
import { JOB_STATES } from './shapes.ts';

/** `GET /api/jobs` never gives more at once. Source: Batch Signing Service API, "Limits". */
const MAX_PAGE_SIZE = 200;
const MAX_REASON = 512;

const once = z.string({ error: 'must be given once' });

/** At most nine digits, so that no page can reach beyond what a number holds exactly. */
const positive = once
  .regex(/^0*[1-9]\d{0,8}$/, { error: 'must be an integer of at least 1' })
  .transform(Number);

const STATES_BY_NAME = new Map(JOB_STATES.map((state) => [state.toLowerCase(), state]));

const statuses = z.union([z.string(), z.array(z.string())]).transform((given, context) => {
  const names = [given].flat().flatMap((value) => value.split(','));
  const states = names.map((name) => STATES_BY_NAME.get(name.trim().toLowerCase()));
  const known = states.filter((state) => state !== undefined);
  if (known.length < states.length) {
    context.addIssue({ code: 'custom', message: `must be one of ${JOB_STATES.join(', ')}` });
    return z.NEVER;
  }
  return [...new Set(known)];
});

export const jobListQuery = z.object({
  status: statuses.default([]),
  profile: once.optional(),
  page: positive.default(1),
  pageSize: positive.transform((size) => Math.min(size, MAX_PAGE_SIZE)).default(50),
});

export const uploadQuery = z.object({ format: once.optional(), profile: once.optional() });

export const noQuery = z.object({});
export const noParams = z.object({});
export const noBody = z.unknown();

/** The id as text; the handler parses it, because a malformed id is an unknown job. */
export const jobParams = z.object({ id: z.string() });

/** `{ reason }` of cancel: trimmed, null when there is none. Its length is judged by `reasonFits`. */
export const reasonBody = z.object({
  reason: z
    .string({ error: 'must be a string' })
    .nullish()
    .transform((reason) => {
      const text = reason?.trim() ?? '';
      return text === '' ? null : text;
    }),
});

/** True for a reason that fits; measured in UTF-16 units. */
export function reasonFits(reason: string | null): boolean {
  return reason === null || reason.length <= MAX_REASON;
}

/** For people and for `errors`. */
export const REASON_RULE = `must be at most ${MAX_REASON} characters`;
