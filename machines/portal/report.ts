/**
 * A report for monitoring, from its request to its expiry.
 *
 * | from   | message    | to      | effects |
 * |--------|------------|---------|---------|
 * | Making | MADE       | Ready   |         |
 * | Making | FAILED     | Failed  |         |
 * | Making | after 24 h | Expired |         |
 * | Ready  | after 65 m | Expired |         |
 * | Failed | after 65 m | Expired |         |
 *
 * Its creation asks for `makeReport`. Expired is not stored: the actor ends, and its file with it.
 *
 * Source: docs/portal-values.md §18.
 */
import { declareEffect, type WithoutTime } from '@sealwright/runtime/actions';
import { assign, setup } from 'xstate';
import type { Millis } from '../ids.ts';
import type { BlobRef } from './portal-types.ts';

export const REPORT_EXPIRED = 'Expired';

/** Retention of a finished report, milliseconds: slightly longer than the validity of its ticket. */
export const REPORT_RETENTION_MS = 65 * 60_000;
const ABANDONED_AFTER_MS = 24 * 3_600_000;

/** Period of the documents' creation, both bounds included; null = unbounded. */
export interface ReportRange {
  readonly from: Millis | null;
  readonly to: Millis | null;
}

export interface ReportContext extends ReportRange {
  readonly createdAt: Millis;
  /** The file; null until it is ready. */
  readonly blob: BlobRef | null;
  /** Number of documents in it. */
  readonly rows: number;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export type ReportMessage = { readonly at: Millis } & (
  | { readonly type: 'MADE'; readonly blob: BlobRef; readonly rows: number }
  | { readonly type: 'FAILED'; readonly code: string; readonly message: string }
);

/** Makes the file. One report at a time. */
export const makeReport = declareEffect('makeReport', {
  types: {} as { input: ReportRange; outcome: WithoutTime<ReportMessage> },
  partitioning: { atOnce: 1, perPartition: 1, partitionOf: () => 'reports' },
});

export const reportMachine = setup({
  delays: { abandoned: ABANDONED_AFTER_MS, retention: REPORT_RETENTION_MS },
  types: {
    context: {} as ReportContext,
    input: {} as ReportRange & { readonly createdAt: Millis },
    events: {} as ReportMessage,
  },
  actions: { makeReport: makeReport.action },
}).createMachine({
  id: 'report',
  context: ({ input }) => ({ ...input, blob: null, rows: 0, error: null }),
  initial: 'Making',
  states: {
    Making: {
      entry: {
        type: 'makeReport',
        params: ({ context: { from, to } }) => ({ from, to }),
      },
      on: {
        MADE: {
          target: 'Ready',
          actions: assign(({ event: { blob, rows } }) => ({ blob, rows })),
        },
        FAILED: {
          target: 'Failed',
          actions: assign(({ event: { code, message } }) => ({ error: { code, message } })),
        },
      },
      after: { abandoned: REPORT_EXPIRED },
    },
    Ready: { after: { retention: REPORT_EXPIRED } },
    Failed: { after: { retention: REPORT_EXPIRED } },
    [REPORT_EXPIRED]: {},
  },
});
