/**
 * The erasure of a person from the documents of an organization.
 *
 * | from    | message  | to      | effects     | when            |
 * |---------|----------|---------|-------------|-----------------|
 * | Running | PROGRESS | Running | erasePeople | more is left    |
 * | Running | PROGRESS | Done    |             | nothing is left |
 *
 * Its creation asks for `erasePeople`. It knows the person by a keyed digest alone, so that its report names nobody.
 *
 * Source: docs/decisions/0640-erasure.md.
 */
import { declareEffect, note, type WithoutTime } from '@sealwright/runtime/actions';
import { assign, setup } from 'xstate';
import type { Principal } from '../../../contracts/portal/entities.ts';
import {
  type ErasedDocument,
  type KeptFor,
  MAX_NAMED_DOCUMENTS,
} from '../../../contracts/portal/retention/erasures.ts';
import type { Millis, OrganizationId } from '../../ids.ts';

/** Place in the search: first all documents, then all mails. */
export interface ErasurePlace {
  readonly view: 'documents-created' | 'mails';
  /** Key of the last row that was looked at; null = none. */
  readonly after: readonly (string | number)[] | null;
}

export interface ErasureInput {
  readonly organizationId: OrganizationId;
  readonly by: Principal;
  readonly at: Millis;
  readonly keptFor: KeptFor | null;
  /** Keyed digest of the address. */
  readonly person: string;
}

export interface ErasureContext extends ErasureInput {
  readonly place: ErasurePlace;
  readonly erased: number;
  readonly kept: number;
  readonly refused: number;
  readonly mails: number;
  readonly documents: readonly ErasedDocument[];
}

export type ErasureMessage = {
  readonly at: Millis;
  readonly type: 'PROGRESS';
  readonly documents: readonly ErasedDocument[];
  readonly mails: number;
  /** Null: nothing is left. */
  readonly next: ErasurePlace | null;
};

/** Erases the person from the next documents, or removes the next mails. One erasure at a time. */
export const erasePeople = declareEffect('erasePeople', {
  types: {} as { input: { readonly place: ErasurePlace }; outcome: WithoutTime<ErasureMessage> },
  partitioning: { atOnce: 1, perPartition: 1, partitionOf: () => 'erasures' },
});

function progressed(context: ErasureContext, event: ErasureMessage): Partial<ErasureContext> {
  const count = (...outcomes: readonly ErasedDocument['outcome'][]) =>
    event.documents.filter(({ outcome }) => outcomes.includes(outcome)).length;
  return {
    erased: context.erased + count('Erased', 'Deleted'),
    kept: context.kept + count('Kept'),
    refused: context.refused + count('Refused'),
    mails: context.mails + event.mails,
    documents: [...context.documents, ...event.documents].slice(0, MAX_NAMED_DOCUMENTS),
    ...(event.next !== null && { place: event.next }),
  };
}

export const erasureMachine = setup({
  types: {
    context: {} as ErasureContext,
    input: {} as ErasureInput,
    events: {} as ErasureMessage,
  },
  actions: {
    erasePeople: erasePeople.action,
    note,
    progress: assign(({ context, event }) => progressed(context, event)),
  },
}).createMachine({
  id: 'erasure',
  context: ({ input }) => ({
    ...input,
    place: { view: 'documents-created', after: null },
    erased: 0,
    kept: 0,
    refused: 0,
    mails: 0,
    documents: [],
  }),
  initial: 'Running',
  states: {
    Running: {
      entry: { type: 'erasePeople', params: ({ context: { place } }) => ({ place }) },
      on: {
        PROGRESS: [
          { guard: ({ event }) => event.next === null, target: 'Done', actions: 'progress' },
          { target: 'Running', reenter: true, actions: 'progress' },
        ],
      },
    },
    Done: {
      entry: {
        type: 'note',
        params: ({ context: { erased, kept, refused } }) => ({
          message: `A person was erased from ${erased} documents; ${kept} were kept, ${refused} refused.`,
        }),
      },
    },
  },
});
