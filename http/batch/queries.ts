/**
 * Parameters of the batch service's requests.
 *
 * Source: docs/batch-values.md §2 and §3 (`GET /api/jobs`).
 */

import { z } from 'zod';
import type { JobFilter } from '../../actors/batch/api/jobs.ts';
import { DELIVERY_STATUSES } from '../../actors/batch/api/webhooks.ts';
import { MAIL_STATUSES } from '../../contracts/portal/mails.ts';
import { JOB_SOURCES, JOB_STATES } from '../../machines/batch/job-context.ts';
import { SYSTEM_EVENT_KINDS } from '../../machines/batch/system-event.ts';
import { type JobId, type Millis, parseJobId } from '../../machines/ids.ts';
import { Refusal } from '../../machines/refusals.ts';
import { SMALL_BODY_BYTES } from '../core/body/json-body.ts';
import { jobFormat } from './shapes.ts';
import { FIELD_BYTES } from './upload-form.ts';

/** Maximum page size of `GET /api/jobs`. Source: docs/batch-values.md §0. */
const MAX_PAGE_SIZE = 200;
const MAX_REASON = 512;

const single = z.string({ error: 'must be given once' });

/** At most nine digits, so that no offset exceeds the exact integers of a number. */
const positive = single
  .regex(/^0*[1-9]\d{0,8}$/, { error: 'must be an integer of at least 1' })
  .transform(Number)
  .meta({ openapi: { type: 'integer', minimum: 1 } });

/** Any of several names, without regard to case; repeated or separated by commas. */
function anyOf<Name extends string>(all: readonly Name[]) {
  const byName = new Map(all.map((name) => [name.toLowerCase(), name]));
  return z
    .union([z.string(), z.array(z.string())])
    .transform((given, context) => {
      const names = [given].flat().flatMap((value) => value.split(','));
      const found = names.map((name) => byName.get(name.trim().toLowerCase()));
      const known = found.filter((name) => name !== undefined);
      if (known.length < found.length) {
        context.addIssue({ code: 'custom', message: `must be one of ${all.join(', ')}` });
        return z.NEVER;
      }
      return [...new Set(known)];
    })
    .meta({
      description: 'Any of these: repeated, or separated by commas; without regard to case.',
      openapi: { type: 'array', items: { type: 'string', enum: all } },
    });
}

/** One of some names, without regard to case; may be left out. */
function oneOf<Name extends string>(all: readonly Name[]) {
  return single
    .transform((text, context) => {
      const found = all.find((name) => name.toLowerCase() === text.trim().toLowerCase());
      if (found !== undefined) return found;
      context.addIssue({ code: 'custom', message: `must be one of ${all.join(', ')}` });
      return z.NEVER;
    })
    .optional()
    .meta({ description: 'Without regard to case.', openapi: { type: 'string', enum: all } });
}

const MAX_MOMENT = 64;
const MOMENT_RULE = 'must be an ISO 8601 day or time with zone, such as 2026-05-26T15:42:11Z';

/** A day (`2026-05-26`, its midnight UTC) or an ISO 8601 timestamp with zone. */
export const moment = single.max(MAX_MOMENT, { error: MOMENT_RULE }).transform((text, context): Millis => {
  const known = z.union([z.iso.date(), z.iso.datetime({ offset: true })]).safeParse(text);
  if (known.success) return Date.parse(text);
  context.addIssue({
    code: 'custom',
    message: MOMENT_RULE,
  });
  return z.NEVER;
});

const jobId = single.transform((text, context): JobId => {
  const id = parseJobId(text);
  if (id !== undefined) return id;
  context.addIssue({ code: 'custom', message: 'must be the id of a job' });
  return z.NEVER;
});

export const jobListQuery = z.object({
  status: anyOf(JOB_STATES).default([]),
  profile: single.optional().describe('Only jobs of this profile.'),
  format: anyOf(jobFormat.options).default([]),
  source: anyOf(JOB_SOURCES).default([]),
  folder: single.optional(),
  fileName: single.optional(),
  createdFrom: moment.optional(),
  createdTo: moment.optional(),
  parentJobId: jobId.optional(),
  page: positive.default(1),
  pageSize: positive.transform((size) => Math.min(size, MAX_PAGE_SIZE)).default(50),
});

/**
 * Parses the filters of a job list.
 * @throws {Refusal} `validation.filter-invalid`
 */
export function readJobFilter(given: Readonly<Record<string, string>>): JobFilter {
  const read = jobListQuery.safeParse(given);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw new Refusal('validation.filter-invalid', `${issue?.path.join('.')} ${issue?.message}.`);
  }
  const { status, format, source, page: _, pageSize: __, ...rest } = read.data;
  return { ...rest, statuses: status, formats: format, sources: source };
}

export const eventQuery = z.object({
  kind: anyOf(SYSTEM_EVENT_KINDS).default([]),
  page: positive.default(1),
  pageSize: positive.transform((size) => Math.min(size, MAX_PAGE_SIZE)).default(50),
});

export const operationListQuery = z.object({
  page: positive.default(1),
  pageSize: positive.transform((size) => Math.min(size, MAX_PAGE_SIZE)).default(50),
});

export const deliveryQuery = z.object({
  status: oneOf(DELIVERY_STATUSES),
  page: positive.default(1),
  pageSize: positive.transform((size) => Math.min(size, MAX_PAGE_SIZE)).default(50),
});

export const mailQuery = z.object({
  status: oneOf(MAIL_STATUSES),
  search: single
    .refine((text) => text.length <= 200)
    .optional()
    .describe('Text in recipient, kind or subject, of the newest 500 e-mails.'),
  page: positive.default(1),
  pageSize: positive.transform((size) => Math.min(size, MAX_PAGE_SIZE)).default(50),
});

const UNITS: { readonly [unit: string]: Millis } = { m: 60_000, h: 3_600_000, d: 86_400_000 };
const MAX_WINDOW_MS = 31 * 86_400_000;

export const statisticsQuery = z.object({
  window: single.default('24h').transform((text, context): Millis => {
    const [, count = '', unit = ''] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
    const window = Number(count) * (UNITS[unit] ?? 0);
    if (window > 0 && window <= MAX_WINDOW_MS) return window;
    context.addIssue({
      code: 'custom',
      message: 'must be minutes, hours or days up to 31 days, such as 15m, 24h or 7d',
    });
    return z.NEVER;
  }),
});

const MAX_INTERVALS = 96;
const INTERVALS = `must be a whole number from 1 to ${MAX_INTERVALS}`;

export const seriesQuery = statisticsQuery.extend({
  intervals: z.coerce
    .number({ error: INTERVALS })
    .int(INTERVALS)
    .min(1, INTERVALS)
    .max(MAX_INTERVALS, INTERVALS)
    .default(24),
});

/** Address of an actor in a path. */
export const actorParams = z.object({ kind: z.string(), id: z.string() });

export const rescanQuery = z.object({ folder: single.optional() });

/** Maximum waiting time of a request, seconds. */
const MAX_WAIT = 60;

const seconds = single
  .max(3)
  .transform((text, context) => {
    const given = /^\d{1,2}$/.test(text) ? Number(text) : 0;
    if (given >= 1 && given <= MAX_WAIT) return given;
    context.addIssue({ code: 'custom', message: `must be a number of seconds from 1 to ${MAX_WAIT}` });
    return z.NEVER;
  })
  .meta({ openapi: { type: 'integer', minimum: 1, maximum: MAX_WAIT } });

export const uploadQuery = z.object({
  wait: seconds
    .optional()
    .describe('Seconds to wait for the end of the job. Absent: the answer comes at once.'),
  format: single.optional(),
  profile: single.optional(),
  operation: single.optional(),
});

/** Fields of the upload form; the handler parses the stream, so this schema only serves the description. */
export const uploadForm = z.object({
  file: z
    .file()
    .describe(
      'The file; the first part that has a file name. With a profile of `Container: AsicE` all parts called `file` go into one container.',
    ),
  format: single
    .max(FIELD_BYTES)
    .optional()
    .meta({ description: 'Pades, Cades or Xades, if not named in the query.', examples: ['Pades'] }),
  profile: single.max(FIELD_BYTES).optional().describe('A signing profile, if not named in the query.'),
  operation: single
    .max(FIELD_BYTES)
    .optional()
    .describe(
      'Sign (default), or Extend: the file is signed already and is raised to the level of the profile; if not named in the query.',
    ),
});

export const noQuery = z.object({});
export const noParams = z.object({});
export const noBody = z.unknown();

/** The id as text; the handler parses it, because a malformed id is an unknown job. */
export const jobParams = z.object({ id: z.string() });

/** `{ reason }` of cancel: trimmed, null when absent. `reasonFits` checks its length. */
export const reasonBody = z.object({
  reason: z
    .string({ error: 'must be a string' })
    .max(SMALL_BODY_BYTES)
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
