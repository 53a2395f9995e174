/**
 * What the batch service's requests may ask for.
 *
 * Source: batch-gaps §2 ("Reason") and §3 (`GET /api/jobs`).
 */
import { z } from 'zod';
import { Refusal } from '../../machines/refusals.ts';
import { SYSTEM_EVENT_KINDS } from '../../machines/system-event.ts';
import { JOB_STATES } from './shapes.ts';

/** `GET /api/jobs` never gives more at once. Source: Batch Signing Service API, "Limits". */
const MAX_PAGE_SIZE = 200;
const MAX_REASON = 512;

const once = z.string({ error: 'must be given once' });

/** At most nine digits, so that no page can reach beyond what a number holds exactly. */
const positive = once
  .regex(/^0*[1-9]\d{0,8}$/, { error: 'must be an integer of at least 1' })
  .transform(Number);

/** Any of some names, without regard to case; repeated or separated by commas. */
function anyOf<Name extends string>(all: readonly Name[]) {
  const byName = new Map(all.map((name) => [name.toLowerCase(), name]));
  return z.union([z.string(), z.array(z.string())]).transform((given, context) => {
    const names = [given].flat().flatMap((value) => value.split(','));
    const found = names.map((name) => byName.get(name.trim().toLowerCase()));
    const known = found.filter((name) => name !== undefined);
    if (known.length < found.length) {
      context.addIssue({ code: 'custom', message: `must be one of ${all.join(', ')}` });
      return z.NEVER;
    }
    return [...new Set(known)];
  });
}

export const jobListQuery = z.object({
  status: anyOf(JOB_STATES).default([]),
  profile: once.optional(),
  page: positive.default(1),
  pageSize: positive.transform((size) => Math.min(size, MAX_PAGE_SIZE)).default(50),
});

export const eventQuery = z.object({
  kind: anyOf(SYSTEM_EVENT_KINDS).default([]),
  page: positive.default(1),
  pageSize: positive.transform((size) => Math.min(size, MAX_PAGE_SIZE)).default(50),
});

export const rescanQuery = z.object({ folder: once.optional() });

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

/** Refusals: `validation.reason-too-long`. Measured in UTF-16 units. */
export function checkReason(reason: string | null): void {
  if (reason === null || reason.length <= MAX_REASON) return;
  throw new Refusal('validation.reason-too-long', `reason ${REASON_RULE}`, {
    errors: { reason: [REASON_RULE] },
  });
}

const REASON_RULE = `must be at most ${MAX_REASON} characters`;
