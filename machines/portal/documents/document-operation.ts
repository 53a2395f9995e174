/**
 * A large operation on documents: one action on every document that a filter finds, batch by batch.
 *
 * | from      | message  | to        | effects          | when                         |
 * |-----------|----------|-----------|------------------|------------------------------|
 * | Running   | PROGRESS | Running   | operateDocuments | there is a next batch        |
 * | Running   | PROGRESS | Completed |                  | there is none                |
 * | Running   | CANCEL   | Canceling |                  |                              |
 * | Canceling | PROGRESS | Canceled  |                  |                              |
 *
 * A new operation asks for `operateDocuments` at once. Each effect names the documents of its batch, so that one
 * repeated after a crash acts on the same documents. Completed and Canceled operations end after 30 days.
 *
 * Source: docs/decisions/0127-operations-on-documents.md.
 */

import { declareEffect, type WithoutTime } from '@sealwright/runtime/actions';
import { assign, setup } from 'xstate';
import type { Principal } from '../../../contracts/portal/entities.ts';
import type { DocumentAction } from '../../../contracts/portal/words.ts';
import type { DocumentId, Millis, OrganizationId } from '../../ids.ts';

/** State of an operation that is being removed; never stored. */
export const DOCUMENT_OPERATION_FORGOTTEN = 'Forgotten';

const RETENTION_MS = 30 * 86_400_000;

/** Documents of one batch, oldest first. */
export interface DocumentBatch {
  readonly ids: readonly DocumentId[];
  /** Order number of the last one, behind which the search continues; null = this is the last batch. */
  readonly after: number | null;
}

/** Outcomes of one batch. */
export interface DocumentOperationCounts {
  readonly done: number;
  /** Documents that did not accept the action, by code. */
  readonly skipped: { readonly [code: string]: number };
}

export interface DocumentOperationInput {
  readonly organization: { readonly id: OrganizationId; readonly name: string };
  readonly createdBy: Principal;
  readonly action: DocumentAction;
  /** Reason of a cancellation; null for other actions. */
  readonly reason: string | null;
  /** The query of the documents; its pages are by position. */
  readonly filter: Readonly<Record<string, unknown>>;
  /** Number of documents found at the creation. */
  readonly matched: number;
  readonly batch: DocumentBatch;
  readonly at: Millis;
}

export interface DocumentOperationContext
  extends Omit<DocumentOperationInput, 'at'>,
    DocumentOperationCounts {
  readonly createdAt: Millis;
  readonly updatedAt: Millis;
  readonly endedAt: Millis | null;
}

export type DocumentOperationMessage = { readonly at: Millis } & (
  | ({ readonly type: 'PROGRESS'; readonly next: DocumentBatch | null } & DocumentOperationCounts)
  | { readonly type: 'CANCEL' }
);

function summed(one: DocumentOperationCounts, other: DocumentOperationCounts): DocumentOperationCounts {
  const skipped: Record<string, number> = { ...one.skipped };
  for (const [code, count] of Object.entries(other.skipped)) skipped[code] = (skipped[code] ?? 0) + count;
  return { done: one.done + other.done, skipped };
}

type BatchOfOrganization = DocumentBatch & { readonly organizationId: OrganizationId };

/** Acts on the documents of one batch. Organizations take turns. */
export const operateDocuments = declareEffect('operateDocuments', {
  types: {} as { input: BatchOfOrganization; outcome: WithoutTime<DocumentOperationMessage> },
  partitioning: { atOnce: 2, perPartition: 1, partitionOf: ({ organizationId }) => organizationId },
});

const operate = {
  type: 'operateDocuments',
  params: ({ context }: { context: DocumentOperationContext }): BatchOfOrganization => ({
    organizationId: context.organization.id,
    ...context.batch,
  }),
} as const;

export const documentOperationMachine = setup({
  types: {
    context: {} as DocumentOperationContext,
    input: {} as DocumentOperationInput,
    events: {} as DocumentOperationMessage,
  },
  actions: {
    operateDocuments: operateDocuments.action,
    count: assign(({ context, event }) =>
      event.type === 'PROGRESS'
        ? { updatedAt: event.at, ...summed(context, event), ...(event.next && { batch: event.next }) }
        : {},
    ),
    end: assign({ endedAt: ({ event }) => event.at }),
  },
  delays: { retention: RETENTION_MS },
}).createMachine({
  id: 'document-operation',
  context: ({ input: { at, ...input } }) => ({
    ...input,
    done: 0,
    skipped: {},
    createdAt: at,
    updatedAt: at,
    endedAt: null,
  }),
  initial: 'Starting',
  states: {
    Starting: { always: { target: 'Running', actions: operate } },
    Running: {
      on: {
        PROGRESS: [
          { guard: ({ event }) => event.next !== null, actions: ['count', operate] },
          { target: 'Completed', actions: ['count', 'end'] },
        ],
        CANCEL: { target: 'Canceling', actions: assign({ updatedAt: ({ event }) => event.at }) },
      },
    },
    Canceling: { on: { PROGRESS: { target: 'Canceled', actions: ['count', 'end'] } } },
    Completed: { after: { retention: DOCUMENT_OPERATION_FORGOTTEN } },
    Canceled: { after: { retention: DOCUMENT_OPERATION_FORGOTTEN } },
    [DOCUMENT_OPERATION_FORGOTTEN]: {},
  },
});
