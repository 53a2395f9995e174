/**
 * Documents generated from a template and a table, one for each of its rows.
 *
 * | from      | message      | to        | effects |
 * |-----------|--------------|-----------|---------|
 * | Making    | ROWS_REFUSED | Making    |         |
 * | Making    | MADE         | Made      |         |
 * | Making    | FAILED       | Failed    |         |
 * | Making    | CANCEL       | Canceling |         |
 * | Canceling | ROWS_REFUSED | Canceling |         |
 * | Canceling | MADE         | Made      |         |
 * | Canceling | FAILED       | Failed    |         |
 * | Canceling | STOPPED      | Canceled  |         |
 * | Made      | after 365 d  | Expired   |         |
 * | Failed    | after 365 d  | Expired   |         |
 * | Canceled  | after 365 d  | Expired   |         |
 *
 * ROWS_REFUSED rewrites the generation with all its refused rows, so it names up to `MAX_REFUSED_AT_ONCE` at a time.
 *
 * Making asks for `generateDocuments`, which ends with STOPPED when it finds the generation Canceling. The documents are
 * independent of it, and count for their generation as long as they exist. Expired is not stored: the actor ends.
 *
 * Source: docs/portal-values.md §20.
 */

import { declareEffect, type WithoutTime } from '@sealwright/runtime/actions';
import { assign, setup } from 'xstate';
import type { Principal } from '../../contracts/portal/entities.ts';
import type { FieldType } from '../../contracts/portal/words.ts';
import type { Millis, OrganizationId } from '../ids.ts';
import type { BlobRef, DocumentTemplate } from './portal-types.ts';
import type { RequestContent } from './saved-request.ts';

export const GENERATION_EXPIRED = 'Expired';

/** Retention of the result of a generation, milliseconds. */
const GENERATION_RETENTION_MS = 365 * 24 * 3_600_000;

export interface GenerationFile {
  readonly name: string;
  readonly contentType: string;
  readonly blob: BlobRef;
}

export interface GenerationInput {
  readonly organization: { readonly id: OrganizationId; readonly name: string };
  readonly createdBy: Principal;
  readonly createdAt: Millis;
  /** A text with placeholders; null = the documents are made of `source`. */
  readonly template: GenerationFile | null;
  /** A version of a template; absent = the documents are made of a text. */
  readonly source?: DocumentTemplate & Pick<RequestContent, 'uploads'>;
  /** Fields of `source` that only tags in the texts of its files name; absent = none. */
  readonly taggedFields?: readonly { readonly name: string; readonly type: FieldType }[];
  readonly data: GenerationFile;
  /** True: rows that are hidden in `data` become no documents. Absent: there are none, or they are read. */
  readonly skipHiddenRows?: boolean;
  /** Number of documents. */
  readonly total: number;
  /** Absent = 1. */
  readonly documentsPerRow?: number;
  readonly folderId: string | null;
  /** Document type of docs/portal-values.md §12. */
  readonly type: string | null;
  /** Request for each document; of a text, with placeholders for the values of its row. */
  readonly wanted: Readonly<Record<string, unknown>>;
}

/** A row that became no document. */
export interface RefusedRow {
  /** From 0. */
  readonly row: number;
  readonly code: string;
  readonly message: string;
}

/** Refused rows of one message: a generation with the most refused rows is then rewritten ten times. */
export const MAX_REFUSED_AT_ONCE = 100;
/** Refused rows of one generation, which are stored with it. */
export const MAX_REFUSED_ROWS = 1_000;

export interface GenerationContext extends GenerationInput {
  /** Absent = none. */
  readonly refused?: readonly RefusedRow[];
  readonly error: { readonly code: string; readonly message: string } | null;
}

export type GenerationMessage = { readonly at: Millis } & (
  | { readonly type: 'MADE' | 'CANCEL' | 'STOPPED' }
  | { readonly type: 'ROWS_REFUSED'; readonly rows: readonly RefusedRow[] }
  | { readonly type: 'FAILED'; readonly code: string; readonly message: string }
);

/** Makes the documents. Organizations take turns. */
export const generateDocuments = declareEffect('generateDocuments', {
  types: {} as {
    input: { readonly organizationId: OrganizationId };
    outcome: WithoutTime<GenerationMessage>;
  },
  partitioning: { atOnce: 2, perPartition: 1, partitionOf: ({ organizationId }) => organizationId },
});

export const generationMachine = setup({
  delays: { retention: GENERATION_RETENTION_MS },
  types: {
    context: {} as GenerationContext,
    input: {} as GenerationInput,
    events: {} as GenerationMessage,
  },
  actions: {
    generateDocuments: generateDocuments.action,
    refuseRows: assign(({ context: { refused = [] }, event }) => {
      if (event.type !== 'ROWS_REFUSED') return {};
      const known = new Set(refused.map(({ row }) => row));
      return { refused: [...refused, ...event.rows.filter(({ row }) => !known.has(row))] };
    }),
    fail: assign(({ event }) =>
      event.type === 'FAILED' ? { error: { code: event.code, message: event.message } } : {},
    ),
  },
}).createMachine({
  id: 'generation',
  context: ({ input }) => ({ ...input, error: null }),
  initial: 'Making',
  states: {
    Making: {
      entry: {
        type: 'generateDocuments',
        params: ({ context }) => ({ organizationId: context.organization.id }),
      },
      on: {
        ROWS_REFUSED: { actions: 'refuseRows' },
        MADE: 'Made',
        FAILED: { target: 'Failed', actions: 'fail' },
        CANCEL: 'Canceling',
      },
    },
    Canceling: {
      on: {
        ROWS_REFUSED: { actions: 'refuseRows' },
        MADE: 'Made',
        FAILED: { target: 'Failed', actions: 'fail' },
        STOPPED: 'Canceled',
      },
    },
    Made: { after: { retention: GENERATION_EXPIRED } },
    Failed: { after: { retention: GENERATION_EXPIRED } },
    Canceled: { after: { retention: GENERATION_EXPIRED } },
    [GENERATION_EXPIRED]: {},
  },
});
