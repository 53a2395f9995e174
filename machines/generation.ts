/**
 * Documents made of a template and a table, one for each of its rows.
 *
 * | from   | event       | to      | effects |
 * |--------|-------------|---------|---------|
 * | Making | MADE        | Made    |         |
 * | Making | FAILED      | Failed  |         |
 * | Made   | after 365 d | Expired |         |
 * | Failed | after 365 d | Expired |         |
 *
 * Making asks for `generateDocuments`. The documents go on by themselves, and count for their generation as long as
 * they are there. Expired is no state that is kept: the actor ends.
 *
 * Source: portal-gaps §20, "Generation".
 */
import { assign, setup } from 'xstate';
import type { Millis, OrganizationId } from './ids.ts';
import type { BlobRef, Doer } from './portal-words.ts';

export const GENERATION_EXPIRED = 'Expired';

/** How long it is known what became of a generation, milliseconds. */
const GENERATION_KEPT = 365 * 24 * 3_600_000;

export interface GenerationFile {
  readonly name: string;
  readonly contentType: string;
  readonly blob: BlobRef;
}

export interface GenerationInput {
  readonly organization: { readonly id: OrganizationId; readonly name: string };
  readonly createdBy: Doer;
  readonly createdAt: Millis;
  readonly template: GenerationFile;
  readonly data: GenerationFile;
  /** Rows of the table. */
  readonly total: number;
  readonly folderId: string | null;
  /** Document type of portal-gaps §12. */
  readonly type: string | null;
  /** What is asked for of every document, with places for what stands in its row; as it was sent. */
  readonly wanted: Readonly<Record<string, unknown>>;
}

export interface GenerationContext extends GenerationInput {
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface GenerateDocumentsEffect {
  readonly do: 'generateDocuments';
  /** Lane of the runtime: organizations take turns. */
  readonly organizationId: OrganizationId;
}

export type GenerationEvent = { readonly at: Millis } & (
  | { readonly type: 'MADE' }
  | { readonly type: 'FAILED'; readonly code: string; readonly message: string }
);

export const generationMachine = setup({
  types: {
    context: {} as GenerationContext,
    input: {} as GenerationInput,
    events: {} as GenerationEvent,
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
    Made: { after: { [GENERATION_KEPT]: GENERATION_EXPIRED } },
    Failed: { after: { [GENERATION_KEPT]: GENERATION_EXPIRED } },
    [GENERATION_EXPIRED]: {},
  },
});
