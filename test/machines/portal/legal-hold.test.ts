/** Legal holds and rules of retention: tests of each row of their tables. */
import test from 'ava';
import type { RetentionRule } from '../../../contracts/portal/retention/retention.ts';
import { DOCUMENT_STATUSES, RETENTION_STATUSES } from '../../../contracts/portal/words.ts';
import type {
  DocumentContext,
  DocumentMessage,
} from '../../../machines/portal/documents/document-context.ts';
import {
  endOf,
  isDue,
  isHeldBack,
  PASSES_HOLD,
  planDeletion,
  withEnd,
} from '../../../machines/portal/documents/legal-hold.ts';
import { ruleFor } from '../../../machines/portal/retention.ts';

const hold = { reason: 'x', by: { id: 'p', type: 'Application', name: 'App' }, at: 1 } as const;
const rule: RetentionRule = { folderId: null, status: null, days: 1 };
const document = { updateDate: 9, concludedAt: 5, endedAt: 7, accepted: [] } as unknown as DocumentContext;
const plan = { rule, at: 10, pass: 1 };

for (const [type, passes] of Object.entries(PASSES_HOLD))
  test(`a hold ${passes ? 'lets pass' : 'refuses'} ${type}`, (t) => {
    t.is(isHeldBack({ hold }, type as DocumentMessage['type']), !passes);
    t.false(isHeldBack({ hold: null }, type as DocumentMessage['type']));
    t.false(isHeldBack({}, type as DocumentMessage['type']));
  });

test('what removes a document or its file does not pass a hold, and nothing else is held back', (t) => {
  const refused = Object.entries(PASSES_HOLD).flatMap(([type, passes]) => (passes ? [] : type));
  t.deepEqual(refused, ['DELETE', 'NEW_VERSION', 'ERASE']);
});

const RULES: readonly RetentionRule[] = [
  { folderId: 'inner', status: 'Refused', days: 1 },
  { folderId: 'inner', status: null, days: 2 },
  { folderId: 'outer', status: 'Expired', days: 3 },
  { folderId: 'outer', status: null, days: null },
  { folderId: null, status: 'Concluded', days: 5 },
  { folderId: null, status: null, days: 6 },
];

for (const [status, folders, days] of [
  ['Refused', ['inner', 'outer'], 1],
  ['Concluded', ['inner', 'outer'], 2],
  ['Expired', ['outer'], 3],
  ['Expired', ['between', 'outer'], 3],
  ['Concluded', ['between', 'outer'], null],
  ['Concluded', ['other'], 5],
  ['Concluded', [], 5],
  ['Canceled', ['other'], 6],
  ['Pending', ['inner'], undefined],
  ['FlowConcluded', [], undefined],
  ['Deleted', [], undefined],
] as const)
  test(`the rule for ${status} in ${folders.join(' in ') || 'no folder'} has ${days} days`, (t) => {
    t.is(ruleFor(RULES, status, folders)?.days, days);
    // The order in which rules were given does not count.
    t.is(ruleFor(RULES.toReversed(), status, folders)?.days, days);
    t.is(ruleFor([], status, folders), undefined);
  });

for (const status of [...DOCUMENT_STATUSES, 'Deleted'])
  test(`a rule deletes ${status} only if it is final, planned, due, and nothing is under way`, (t) => {
    const isFinal = RETENTION_STATUSES.some((one) => one === status);
    const planned = { ...document, deletion: plan };
    t.is(isDue(planned, status, 10), isFinal);
    t.false(isDue(planned, status, 9));
    t.false(isDue(document, status, 10));
    t.false(isDue({ ...planned, accepted: [{}] } as unknown as DocumentContext, status, 10));
  });

test('days are counted from the final status, later where an earlier version has not kept it', (t) => {
  t.is(endOf('Concluded', document), 5);
  t.is(endOf('Refused', document), 7);
  t.is(endOf('Expired', { ...document, endedAt: null }), 9);
});

test('another status ends what was planned, and begins to count', (t) => {
  const before = { ...document, deletion: plan };
  const decision = (to: 'Pending' | 'Canceled') => ({ context: before, effects: [], to });
  t.like(withEnd(decision('Canceled'), before).context, { endedAt: 9, deletion: null });
  t.like(withEnd(decision('Pending'), before).context, { endedAt: null, deletion: null });
});

test('a held document is not planned to be deleted, and a plan is made once', (t) => {
  const message = { type: 'PLAN_DELETION', plan, at: 1 } as const;
  t.like(planDeletion(document, message), { context: { deletion: plan } });
  t.is(planDeletion({ ...document, hold }, message), undefined);
  t.is(planDeletion({ ...document, deletion: plan }, message), undefined);
  t.is(planDeletion(document, { ...message, plan: null }), undefined);
});
