/**
 * Parameters and members of requests that several subjects have, and pages of lists.
 *
 * Source: docs/batch-values.md §2 and §3 (`GET /api/jobs`).
 */
import { z } from 'zod';
import { shown } from '../fields.ts';
import { noteIgnored } from '../ignored-members.ts';

/** Maximum page size of lists. Source: docs/batch-values.md §0. */
const MAX_PAGE_SIZE = 200;
const MAX_REASON = 512;

export const single = z.string({ error: 'must be given once' });

/** At most nine digits, so that no offset exceeds the exact integers of a number. */
const positive = single
  .regex(/^0*[1-9]\d{0,8}$/, { error: 'must be an integer of at least 1' })
  .transform(Number)
  .meta({ openapi: { type: 'integer', minimum: 1, maximum: 999_999_999 } });

/** Number and size of a page. */
export const paging = {
  page: positive.default(1).describe('Number of the page, from 1. Default 1.'),
  pageSize: positive
    .transform((size) => Math.min(size, MAX_PAGE_SIZE))
    .default(50)
    .describe('Entries of a page. Default 50, at most 200.'),
};

/** One page of a list. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.strictObject({
    items: z.array(item).describe('Entries of this page.'),
    page: shown(z.int(), 'Number of this page, from 1.', 1),
    pageSize: shown(z.int(), 'Most entries of a page.', 50),
    totalCount: shown(z.int(), 'Entries of the whole list.', 42),
  });
}

/** Any of several names, without regard to case; repeated or separated by commas. */
export function anyOf<Name extends string>(all: readonly Name[]) {
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
export function oneOf<Name extends string>(all: readonly Name[]) {
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
/** A bare day, or a time with its zone. */
const MOMENT = {
  type: 'string',
  maxLength: MAX_MOMENT,
  pattern: '^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?(Z|[+-]\\d{2}:\\d{2}))?$',
};
const MOMENT_RULE = 'must be an ISO 8601 day or time with zone, such as 2026-05-26T15:42:11Z';

/** A day (`2026-05-26`, its midnight UTC) or an ISO 8601 timestamp with zone. */
export const moment = single
  .max(MAX_MOMENT, { error: MOMENT_RULE })
  .transform((text, context): number => {
    const known = z.union([z.iso.date(), z.iso.datetime({ offset: true })]).safeParse(text);
    if (known.success) return Date.parse(text);
    context.addIssue({ code: 'custom', message: MOMENT_RULE });
    return z.NEVER;
  })
  .meta({ openapi: MOMENT, exampleValue: '2026-05-26T15:42:11Z' });

export const queryFlag = z
  .enum(['true', 'false'], { error: 'must be true or false' })
  .transform((text) => text === 'true');

const UNITS: { readonly [unit: string]: number } = { m: 60_000, h: 3_600_000, d: 86_400_000 };
const MAX_WINDOW_MS = 31 * 86_400_000;

/** Length of a time that ends now, milliseconds. */
export const window = single
  .default('24h')
  .transform((text, context): number => {
    const [, count = '', unit = ''] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
    const length = Number(count) * (UNITS[unit] ?? 0);
    if (length > 0 && length <= MAX_WINDOW_MS) return length;
    context.addIssue({
      code: 'custom',
      message: 'must be minutes, hours or days up to 31 days, such as 15m, 24h or 7d',
    });
    return z.NEVER;
  })
  .meta({
    description: 'Length of the window up to now, such as `15m`, `24h` or `7d`; at most 31 days.',
    openapi: { type: 'string', pattern: '^\\d{1,5}[mhd]$', maxLength: 6, default: '24h' },
  });

export const MAX_INTERVALS = 96;

export function wholeQuery(most: number, error = `must be a whole number from 1 to ${most}`) {
  return z.coerce.number({ error }).int(error).min(1, error).max(most, error);
}

/** Of the answers that several pages share. Source: docs/decisions/0151-shared-answers-for-pages.md. */
export const sharedVersion = z.string({ error: 'must be given once' }).max(64).optional().meta({
  exampleValue: '0H00000000001.42',
  description:
    'A `version` of `GET /api/changes`. The answer may then be one that was computed for another request within the last 10 seconds, if it includes this version. Absent: the answer is computed now.',
});

/** Query of an operation with a shared answer and no other parameter. */
export const sharedQuery = z.object({ version: sharedVersion });

export const seriesQuery = z.object({
  window,
  intervals: wholeQuery(MAX_INTERVALS).default(24).describe('How many intervals the window is divided into.'),
  version: sharedVersion,
});

const REASON_RULE = `must be at most ${MAX_REASON} characters`;

/** Trimmed; null when absent or blank. Measured in UTF-16 units. */
export const reason = z
  .string({ error: 'must be a string' })
  .nullish()
  .transform((given, context) => {
    const text = given?.trim() ?? '';
    if (text.length > MAX_REASON)
      context.issues.push({
        code: 'custom',
        message: REASON_RULE,
        input: given,
        params: { refusal: { code: 'validation.reason-too-long', message: `reason ${REASON_RULE}` } },
      });
    return text === '' ? null : text;
  })
  .meta({
    description: 'Why, as events and the history show it. Null: none was given.',
    exampleValue: 'certificate change',
    openapi: { anyOf: [{ type: 'string', maxLength: MAX_REASON }, { type: 'null' }] },
  });

/** Members beside the reason are ignored, and named in the answer. */
export const reasonBody = z
  .preprocess((given) => {
    const others = Object.keys(Object(given)).filter((name) => name !== 'reason');
    if (others.length > 0) noteIgnored(given as object, others);
    return given;
  }, z.object({ reason }))
  .meta({ id: 'Reason' });
