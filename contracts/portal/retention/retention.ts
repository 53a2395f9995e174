/** Rules of retention, and legal holds. Source: docs/decisions/0610-retention-and-holds.md. */
import { z } from 'zod';
import {
  entity,
  id,
  list,
  maybePart,
  maybeTextOf,
  maybeUuid,
  members,
  shown,
  time,
  wholeFrom,
  word,
} from '../../fields.ts';
import type { Value } from '../../operation.ts';
import { plainText } from '../../plain-text.ts';
import { documentStatus } from '../documents.ts';
import { entityName, identity, principal } from '../entities.ts';
import { documentParams, folderParams } from '../ids.ts';
import { pageOf, paging, queryWord } from '../lists.ts';
import { operationsOf } from '../operation.ts';
import { UNKNOWN_DOCUMENT } from '../refusals.ts';
import { RETENTION_STATUSES } from '../words.ts';

/** Rules of one organization. */
const MAX_RETENTION_RULES = 50;
export const MAX_RETENTION_DAYS = 36_500;
export const MAX_NOTICE_DAYS = 90;
export const MAX_HOLD_REASON = 500;

const FOLDER =
  'Folder whose documents the rule is for, with the folders inside that have no rule of their own for the status. Null: all documents.';
const STATUS = 'Status that the documents have. Null: each of the four.';
const DAYS = 'Days since that status was reached, after which a document is deleted. Null: it is kept.';
const NOTICE = 'Days between the notice to administrators and the deletion.';

const ruleShape = {
  folderId: id.nullable().describe(FOLDER),
  status: z.enum(RETENTION_STATUSES).nullable().describe(STATUS),
  days: shown(z.int().nullable(), DAYS, 3_650),
};
const rule = entity('RetentionRule', ruleShape);
export type RetentionRule = Value<typeof rule>;

const retention = entity('Retention', {
  noticeDays: shown(z.int(), NOTICE, 14),
  rules: z.array(rule).describe('Rules of the organization. What none of them names is kept.'),
});

const newRetention = members({
  noticeDays: shown(wholeFrom(1, MAX_NOTICE_DAYS).nullish(), `${NOTICE} Absent: 14.`, 14),
  rules: list(
    members({
      folderId: maybeUuid.describe(FOLDER),
      status: word(RETENTION_STATUSES).nullish().describe(STATUS),
      days: shown(wholeFrom(1, MAX_RETENTION_DAYS).nullish(), DAYS, 3_650),
    }).transform(({ folderId = null, status = null, days = null }) => ({ folderId, status, days })),
    {
      most: MAX_RETENTION_RULES,
      refusal: { code: 'LimitExceeded', message: `There are at most ${MAX_RETENTION_RULES} rules.` },
    },
  ).describe('All rules; each pair of folder and status once.'),
})
  .transform(({ noticeDays, rules }) => ({ noticeDays: noticeDays ?? 14, rules }))
  .meta({ id: 'NewRetention' });
export type NewRetention = Value<typeof newRetention>;

const hold = members({
  reason: shown(
    maybeTextOf(plainText, MAX_HOLD_REASON),
    'Why nothing may be deleted, at most 500 characters. Null: ends the hold.',
    'Proceedings 14/2027',
  ),
})
  .transform(({ reason }) => ({ reason: reason?.trim() || null }))
  .meta({ id: 'LegalHold' });

const RETENTION_LISTS = ['Held', 'Planned', 'Deleted'] as const;
export type RetentionList = (typeof RETENTION_LISTS)[number];

const item = entity('RetentionItem', {
  type: z.enum(['Document', 'Folder']).describe('Folders are only among what is held.'),
  id: identity,
  name: entityName,
  status: documentStatus.nullable().describe('Status, before a deletion. Null: a folder.'),
  date: time.describe('Start of the hold, planned time of the deletion, or time of the deletion.'),
  rule: rule.nullable().describe('Rule by which it is deleted. Null: a hold.'),
  reason: shown(z.string().nullable(), 'Reason of the hold. Null: none.', 'Proceedings 14/2027'),
  by: principal.nullable().describe('Who holds it. Null: no hold.'),
});
export type RetentionItem = Value<typeof item>;

const operation = operationsOf({ group: 'Retention' });

export const getRetention = operation('GET /api/retention', {
  summary: 'Returns the rules by which documents of the organization are deleted.',
  description: 'Without rules nothing is deleted.',
  scope: 'Read',
  sessionScope: 'Administer',
  reply: retention,
});

export const setRetention = operation('PUT /api/retention', {
  summary: 'Replaces the rules by which documents of the organization are deleted.',
  description:
    'Concluded, Refused, Canceled and Expired documents only. The rule of the nearest folder counts, in it that of the status before that of each status; then those of all documents. Every day a pass plans deletions, tells administrators by mail, and deletes what was planned at least `noticeDays` days and passes ago and still falls under a rule. `BadRequest`: two rules are for the same.',
  scope: 'Administer',
  body: newRetention,
  reply: retention,
  examples: { request: { noticeDays: 14, rules: [{ status: 'Concluded', days: 3_650 }] } },
  refusals: ['FolderNotFound', 'LimitExceeded'],
});

export const listRetention = operation('GET /api/retention/documents', {
  summary: 'Lists what is held, what a rule will delete, and what a rule has deleted.',
  description: 'In the order of `date`.',
  scope: 'Read',
  sessionScope: 'Administer',
  query: members({
    list: shown(
      queryWord(RETENTION_LISTS).transform((given) => given ?? 'Planned'),
      'Which of the three lists. Absent: `Planned`.',
      'Planned',
    ),
    ...paging,
  }),
  reply: pageOf(item),
});

const documentRetention = entity('DocumentRetention', {
  hold: maybePart('Legal hold on the document itself. Null: none.', {
    reason: shown(z.string(), 'Reason of the hold.', 'Proceedings 14/2027'),
    by: principal.describe('Who holds it.'),
    date: time.describe('Start of the hold.'),
  }),
  deletion: maybePart('Deletion that is planned. Null: none.', {
    date: time.describe('Earliest time of the deletion.'),
    rule: rule.describe('Rule by which it is deleted.'),
  }),
});
export type DocumentRetention = Value<typeof documentRetention>;

export const getDocumentRetention = operation('GET /api/documents/{id}/retention', {
  summary: 'Returns the legal hold on a document, and when a rule will delete it.',
  description: 'Not those of its folder.',
  scope: 'Read',
  sessionScope: 'Administer',
  params: documentParams,
  reply: documentRetention,
  refusals: UNKNOWN_DOCUMENT,
});

export const holdDocument = operation('PUT /api/documents/{id}/hold', {
  summary: 'Puts a document under legal hold, or ends the hold.',
  description:
    'While it is held, nothing deletes the document or replaces its file (`LegalHold`). A new reason replaces the one before. The history names who did it.',
  scope: 'Administer',
  params: documentParams,
  body: hold,
  reply: 'empty',
  examples: { request: { reason: 'Proceedings 14/2027' } },
  refusals: UNKNOWN_DOCUMENT,
});

export const holdFolder = operation('PUT /api/folders/{id}/hold', {
  summary: 'Puts a folder under legal hold, or ends the hold.',
  description:
    'While it is held, no document in it or in folders inside is deleted, replaced or moved out, and the folder is not deleted (`LegalHold`).',
  scope: 'Administer',
  params: folderParams,
  body: hold,
  reply: 'empty',
  examples: { request: { reason: 'Proceedings 14/2027' } },
  refusals: ['FolderNotFound'],
});
