/**
 * A report for monitoring, from its order to the end of its hour.
 *
 * | from   | event      | to      | effects |
 * |--------|------------|---------|---------|
 * | Making | MADE       | Ready   |         |
 * | Making | FAILED     | Failed  |         |
 * | Making | after 24 h | Expired |         |
 * | Ready  | after 65 m | Expired |         |
 * | Failed | after 65 m | Expired |         |
 *
 * Being made asks for `makeReport`. Expired is no state that is kept: the actor ends, and its file with it.
 *
 * Source: portal-gaps §18.
 */
import { assign, setup } from 'xstate';
import type { Millis } from './ids.ts';
import type { BlobRef } from './portal-words.ts';

export const REPORT_EXPIRED = 'Expired';

/** How long a report is kept once it is made: a little longer than its ticket is good. Milliseconds. */
export const REPORT_KEPT = 65 * 60_000;
const GIVEN_UP = 24 * 3_600_000;

/** Documents by their creation, both bounds included; null = unbounded. */
export interface ReportRange {
  readonly from: Millis | null;
  readonly to: Millis | null;
}

export interface ReportContext extends ReportRange {
  readonly createdAt: Millis;
  /** The file; null before it is made. */
  readonly blob: BlobRef | null;
  /** Documents in it. */
  readonly rows: number;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface MakeReportEffect extends ReportRange {
  readonly do: 'makeReport';
}

export type ReportEvent = { readonly at: Millis } & (
  | { readonly type: 'MADE'; readonly blob: BlobRef; readonly rows: number }
  | { readonly type: 'FAILED'; readonly code: string; readonly message: string }
);

export const reportMachine = setup({
  types: {
    context: {} as ReportContext,
    input: {} as ReportRange & { readonly createdAt: Millis },
    events: {} as ReportEvent,
  },
  actions: { effect: (_, _effect: MakeReportEffect) => {} },
}).createMachine({
  id: 'report',
  context: ({ input }) => ({ ...input, blob: null, rows: 0, error: null }),
  initial: 'Making',
  states: {
    Making: {
      entry: {
        type: 'effect',
        params: ({ context: { from, to } }) => ({ do: 'makeReport' as const, from, to }),
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
      after: { [GIVEN_UP]: REPORT_EXPIRED },
    },
    Ready: { after: { [REPORT_KEPT]: REPORT_EXPIRED } },
    Failed: { after: { [REPORT_KEPT]: REPORT_EXPIRED } },
    [REPORT_EXPIRED]: {},
  },
});
