/**
 * Documents generated from a template and a table, one for each of its rows.
 *
 * | from   | event       | to      | effects |
 * |--------|-------------|---------|---------|
 * | Making | MADE        | Made    |         |
 * | Making | FAILED      | Failed  |         |
 * | Made   | after 365 d | Expired |         |
 * | Failed | after 365 d | Expired |         |
 *
 * Making asks for `generateDocuments`. The documents are independent of it, and count for their generation as long as
 * they exist. Expired is not stored: the actor ends.
 *
 * Source: docs/portal-values.md §20.
 */
import { assign, setup } from 'xstate';
import type { Millis, OrganizationId } from '../ids.ts';
import type { BlobRef, Principal } from './portal-types.ts';

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
  readonly template: GenerationFile;
  readonly data: GenerationFile;
  /** Rows of the table. */
  readonly total: number;
  readonly folderId: string | null;
  /** Document type of docs/portal-values.md §12. */
  readonly type: string | null;
  /** Request for each document, with placeholders for the values of its row; as it was sent. */
  readonly wanted: Readonly<Record<string, unknown>>;
}

export interface GenerationContext extends GenerationInput {
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface GenerateDocumentsEffect {
  readonly do: 'generateDocuments';
  /** The queue key of the effect: organizations take turns. */
  readonly organizationId: OrganizationId;
}

export type GenerationMessage = { readonly at: Millis } & (
  | { readonly type: 'MADE' }
  | { readonly type: 'FAILED'; readonly code: string; readonly message: string }
);

export const generationMachine = setup({
  types: {
    context: {} as GenerationContext,
    input: {} as GenerationInput,
    events: {} as GenerationMessage,
  },
  actions: { effect: (_, _effect: GenerateDocumentsEffect) => {} },
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
        MADE: 'Made',
        FAILED: {
          target: 'Failed',
          actions: assign(({ event: { code, message } }) => ({ error: { code, message } })),
        },
      },
    },
    Made: { after: { [GENERATION_RETENTION_MS]: GENERATION_EXPIRED } },
    Failed: { after: { [GENERATION_RETENTION_MS]: GENERATION_EXPIRED } },
    [GENERATION_EXPIRED]: {},
  },
});
