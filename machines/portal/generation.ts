/**
 * Documents generated from a template and a table, one for each of its rows.
 *
 * | from      | event       | to        | effects |
 * |-----------|-------------|-----------|---------|
 * | Making    | ROW_REFUSED | Making    |         |
 * | Making    | MADE        | Made      |         |
 * | Making    | FAILED      | Failed    |         |
 * | Making    | CANCEL      | Canceling |         |
 * | Canceling | ROW_REFUSED | Canceling |         |
 * | Canceling | MADE        | Made      |         |
 * | Canceling | FAILED      | Failed    |         |
 * | Canceling | STOPPED     | Canceled  |         |
 * | Made      | after 365 d | Expired   |         |
 * | Failed    | after 365 d | Expired   |         |
 * | Canceled  | after 365 d | Expired   |         |
 *
 * Making asks for `generateDocuments`, which ends with STOPPED when it finds the generation Canceling. The documents are
 * independent of it, and count for their generation as long as they exist. Expired is not stored: the actor ends.
 *
 * Source: docs/portal-values.md §20.
 */
import { assign, setup } from 'xstate';
import type { Millis, OrganizationId } from '../ids.ts';
import type { BlobRef, DocumentTemplate, Principal } from './portal-types.ts';
import type { TemplateContent } from './template.ts';

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
  readonly source?: DocumentTemplate & Pick<TemplateContent, 'uploads'>;
  readonly data: GenerationFile;
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

export interface GenerationContext extends GenerationInput {
  /** Absent = none. */
  readonly refused?: readonly RefusedRow[];
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface GenerateDocumentsEffect {
  readonly do: 'generateDocuments';
  /** The queue key of the effect: organizations take turns. */
  readonly organizationId: OrganizationId;
}

export type GenerationMessage = { readonly at: Millis } & (
  | { readonly type: 'MADE' | 'CANCEL' | 'STOPPED' }
  | ({ readonly type: 'ROW_REFUSED' } & RefusedRow)
  | { readonly type: 'FAILED'; readonly code: string; readonly message: string }
);

export const generationMachine = setup({
  types: {
    context: {} as GenerationContext,
    input: {} as GenerationInput,
    events: {} as GenerationMessage,
  },
  actions: {
    effect: (_, _effect: GenerateDocumentsEffect) => {},
    refuseRow: assign(({ context: { refused = [] }, event }) => {
      if (event.type !== 'ROW_REFUSED' || refused.some(({ row }) => row === event.row)) return {};
      const { row, code, message } = event;
      return { refused: [...refused, { row, code, message }] };
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
        type: 'effect',
        params: ({ context }) => ({
          do: 'generateDocuments' as const,
          organizationId: context.organization.id,
        }),
      },
      on: {
        ROW_REFUSED: { actions: 'refuseRow' },
        MADE: 'Made',
        FAILED: { target: 'Failed', actions: 'fail' },
        CANCEL: 'Canceling',
      },
    },
    Canceling: {
      on: {
        ROW_REFUSED: { actions: 'refuseRow' },
        MADE: 'Made',
        FAILED: { target: 'Failed', actions: 'fail' },
        STOPPED: 'Canceled',
      },
    },
    Made: { after: { [GENERATION_RETENTION_MS]: GENERATION_EXPIRED } },
    Failed: { after: { [GENERATION_RETENTION_MS]: GENERATION_EXPIRED } },
    Canceled: { after: { [GENERATION_RETENTION_MS]: GENERATION_EXPIRED } },
    [GENERATION_EXPIRED]: {},
  },
});
