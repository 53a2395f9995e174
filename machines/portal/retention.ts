/**
 * Rules of retention of an organization, and the daily passes by which they are carried out. Its id is that of the organization.
 *
 * | from   | message | to     | effects     | when                                                    |
 * |--------|---------|--------|-------------|---------------------------------------------------------|
 * | Active | SET     | Active |             |                                                         |
 * | Active | DUE     | Active | retain      | a day after the last one began, or the clock was set back |
 * | Active | PASSED  | Active |             | of this pass                                            |
 *
 * Source: docs/decisions/0610-retention-and-holds.md.
 */
import { declareEffect, type RequestAction, type WithoutTime } from '@sealwright/runtime/actions';
import type { NewRetention, RetentionRule } from '../../contracts/portal/retention/retention.ts';
import { RETENTION_STATUSES } from '../../contracts/portal/words.ts';
import { DAY_MS } from '../../contracts/times.ts';
import type { Millis, OrganizationId } from '../ids.ts';
import { recordMachine } from '../record.ts';

interface RetentionPass {
  /** Counted from 1. */
  readonly pass: number;
  /** Its beginning. */
  readonly at: Millis;
}

export interface RetentionContext extends NewRetention {
  readonly organizationId: OrganizationId;
  /** The last one; null = none yet. */
  readonly last: RetentionPass | null;
  readonly isRunning: boolean;
}

export type RetentionMessage = { readonly at: Millis; readonly by?: string | undefined } & (
  | ({ readonly type: 'SET' } & NewRetention)
  | { readonly type: 'DUE' }
  | { readonly type: 'PASSED'; readonly pass: number }
);

/** Carries out a pass: deletes what was planned, plans, and tells administrators. One organization at a time. */
export const retain = declareEffect('retain', {
  types: {} as {
    input: RetentionPass & { readonly organizationId: OrganizationId };
    outcome: WithoutTime<RetentionMessage>;
  },
  partitioning: { atOnce: 1, perPartition: 1, partitionOf: () => 'retention' },
});

export const retentionMachine = recordMachine<RetentionContext, RetentionMessage>({
  id: 'retention',
  state: 'Active',
  context: (input) => input,
  changes: {
    SET: (_, { noticeDays, rules }) => ({
      context: { noticeDays, rules },
      note: `Rules of retention changed: ${JSON.stringify({ noticeDays, rules })}`,
    }),
    DUE: ({ last, isRunning }, { at }) =>
      isRunning || (last !== null && last.at <= at && at < last.at + DAY_MS)
        ? undefined
        : { context: { last: { pass: (last?.pass ?? 0) + 1, at }, isRunning: true } },
    PASSED: ({ last }, { pass }) => (last?.pass === pass ? { context: { isRunning: false } } : undefined),
  },
  effects: {
    action: retain.action as RequestAction<object>,
    inputs: ({ isRunning }, { organizationId, last, ...after }) =>
      after.isRunning && !isRunning && last !== null ? [{ organizationId, ...last }] : [],
  },
});

/**
 * The rule for a document: the closed table of docs/decisions/0610-retention-and-holds.md. Undefined = none, and the
 * document is kept; so it is where `days` of the rule is null.
 * @param folders its folder, then those around it
 */
export function ruleFor(
  rules: readonly RetentionRule[],
  status: string,
  folders: readonly string[],
): RetentionRule | undefined {
  if (!RETENTION_STATUSES.some((one) => one === status)) return undefined;
  for (const folderId of [...folders, null])
    for (const named of [status, null]) {
      const rule = rules.find((one) => one.folderId === folderId && one.status === named);
      if (rule !== undefined) return rule;
    }
  return undefined;
}
