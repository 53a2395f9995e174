/**
 * What the batch service's requests may ask for.
 *
 * Source: batch-gaps §2 ("Reason") and §3 (`GET /api/jobs`).
 */
import { z } from 'zod';
import type { JobFilter } from '../../actors/api.ts';
import { type JobId, type Millis, parseJobId } from '../../machines/ids.ts';
import { JOB_SOURCES, JOB_STATES } from '../../machines/job-context.ts';
import { MAIL_STATES } from '../../machines/mail.ts';
import { Refusal } from '../../machines/refusals.ts';
import { SYSTEM_EVENT_KINDS } from '../../machines/system-event.ts';
import { jobFormat } from './shapes.ts';

/** `GET /api/jobs` never gives more at once. Source: Batch Signing Service API, "Limits". */
const MAX_PAGE_SIZE = 200;
const MAX_REASON = 512;

const once = z.string({ error: 'must be given once' });

/** At most nine digits, so that no page can reach beyond what a number holds exactly. */
const positive = once
  .regex(/^0*[1-9]\d{0,8}$/, { error: 'must be an integer of at least 1' })
  .transform(Number)
  .meta({ openapi: { type: 'integer', minimum: 1 } });

/** Any of some names, without regard to case; repeated or separated by commas. */
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

/** A day (`2026-05-26`, its midnight UTC) or a moment with its zone, as ISO 8601 writes them. */
export const moment = once.transform((text, context): Millis => {
  const known = z.union([z.iso.date(), z.iso.datetime({ offset: true })]).safeParse(text);
  if (known.success) return Date.parse(text);
  context.addIssue({
    code: 'custom',
    message: 'must be an ISO 8601 day or time with zone, such as 2026-05-26T15:42:11Z',
  });
  return z.NEVER;
});

const jobId = once.transform((text, context): JobId => {
  const id = parseJobId(text);
  if (id !== undefined) return id;
  context.addIssue({ code: 'custom', message: 'must be the id of a job' });
  return z.NEVER;
});

export const jobListQuery = z.object({
  status: anyOf(JOB_STATES).default([]),
  profile: once.optional(),
  format: anyOf(jobFormat.options).default([]),
  source: anyOf(JOB_SOURCES).default([]),
  folder: once.optional(),
  fileName: once.optional(),
  createdFrom: moment.optional(),
  createdTo: moment.optional(),
  parentJobId: jobId.optional(),
  page: positive.default(1),
  pageSize: positive.transform((size) => Math.min(size, MAX_PAGE_SIZE)).default(50),
});

/**
 * The filters of a list of jobs, given as text.
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

export const mailQuery = z.object({
  status: once
    .transform((text, context) => {
      const found = MAIL_STATES.find((state) => state.toLowerCase() === text.trim().toLowerCase());
      if (found !== undefined) return found;
      context.addIssue({ code: 'custom', message: `must be one of ${MAIL_STATES.join(', ')}` });
      return z.NEVER;
    })
    .optional()
    .meta({ description: 'Without regard to case.', openapi: { type: 'string', enum: MAIL_STATES } }),
  page: positive.default(1),
  pageSize: positive.transform((size) => Math.min(size, MAX_PAGE_SIZE)).default(50),
});

const UNITS: { readonly [unit: string]: Millis } = { m: 60_000, h: 3_600_000, d: 86_400_000 };
const LONGEST_WINDOW = 31 * 86_400_000;

export const statisticsQuery = z.object({
  window: once.default('24h').transform((text, context): Millis => {
    const [, count = '', unit = ''] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
    const window = Number(count) * (UNITS[unit] ?? 0);
    if (window > 0 && window <= LONGEST_WINDOW) return window;
    context.addIssue({
      code: 'custom',
      message: 'must be minutes, hours or days up to 31 days, such as 15m, 24h or 7d',
    });
    return z.NEVER;
  }),
});

export const rescanQuery = z.object({ folder: once.optional() });

export const uploadQuery = z.object({ format: once.optional(), profile: once.optional() });

/** What the form of an upload holds; read as it comes, so this is for the description only. */
export const uploadForm = z.object({
  file: z.file().describe('The file; the first part that has a file name.'),
  format: once.optional().describe('Pades, Cades or Xades, if not named in the query.'),
  profile: once.optional().describe('A signing profile, if not named in the query.'),
});

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
