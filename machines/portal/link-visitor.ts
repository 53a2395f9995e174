/**
 * One mailbox or number at one link for anybody. What a person has entered is stored until the document of the visit is
 * made.
 *
 * | from   | message     | to     | effects          |                                                       |
 * |--------|-------------|--------|------------------|-------------------------------------------------------|
 * | Idle   | MAKE        | Making | makeLinkDocument | no other document was made since the caller looked    |
 * | Making | MADE        | Idle   |                  |                                                       |
 * | Making | REFUSED     | Idle   |                  |                                                       |
 * | Idle   | after 366 d | Ended  |                  | the link is over; without a document after a day      |
 * | Making | after 366 d | Ended  |                  | the link is over                                      |
 *
 * Ended is not stored: the actor ends.
 *
 * Source: docs/decisions/0470-links-for-anybody.md.
 */
import { declareEffect, type WithoutTime } from '@sealwright/runtime/actions';
import { assign, setup } from 'xstate';
import type { NewFieldValues, NewParticipant } from '../../contracts/portal/flow.ts';
import type { PortalRefusalCode } from '../../contracts/portal/refusals.ts';
import type { DocumentId, Millis, OrganizationId } from '../ids.ts';
import { MAX_LINK_TIME_MS } from './public-link.ts';

export const LINK_VISITOR_ENDED = 'Ended';

export interface LinkVisit {
  /** Hash of what the client of the visitor has drawn. */
  readonly visitId: string;
  /** Hash of the exact address or number. */
  readonly person: string;
  readonly user: NewParticipant;
  /** Host of the device before which the person stands; absent = none. */
  readonly host?: { readonly id: string; readonly name: string };
  readonly fieldValues: NewFieldValues;
}

interface LinkVisitorInput {
  readonly linkId: string;
  readonly organizationId: OrganizationId;
}

export interface LinkVisitorContext extends LinkVisitorInput {
  /** Oldest first; at most as many as one mailbox may have. */
  readonly documents: readonly VisitDocument[];
  /** The visit whose document is being made. */
  readonly visit: LinkVisit | null;
  /** Reason why the last visit made no document; null = it made one. */
  readonly refused: (VisitRefusal & { readonly visitId: string }) | null;
}

interface VisitDocument extends Pick<LinkVisit, 'visitId' | 'person'> {
  readonly documentId: DocumentId;
}

interface VisitRefusal {
  readonly code: PortalRefusalCode;
  readonly message: string;
  /** By field; absent = none. */
  readonly details?: Readonly<Record<string, string>>;
}

export type LinkVisitorMessage = { readonly at: Millis } & (
  | { readonly type: 'MAKE'; readonly number: number; readonly visit: LinkVisit }
  | { readonly type: 'MADE'; readonly documentId: DocumentId }
  | ({ readonly type: 'REFUSED' } & VisitRefusal)
);

/** Makes the document of the visit. Links take turns. */
export const makeLinkDocument = declareEffect('makeLinkDocument', {
  types: {} as {
    input: { readonly linkId: string };
    outcome: WithoutTime<LinkVisitorMessage> | null;
  },
  partitioning: { atOnce: 8, perPartition: 2, partitionOf: ({ linkId }) => linkId },
});

/** Retention where no document was made, milliseconds. */
const UNUSED_MS = 24 * 3_600_000;

export const linkVisitorMachine = setup({
  delays: {
    retention: ({ context: { documents, visit } }) =>
      documents.length === 0 && visit === null ? UNUSED_MS : MAX_LINK_TIME_MS,
  },
  types: {
    context: {} as LinkVisitorContext,
    input: {} as LinkVisitorInput,
    events: {} as LinkVisitorMessage,
  },
  actions: { makeLinkDocument: makeLinkDocument.action },
}).createMachine({
  id: 'link-visitor',
  context: ({ input }) => ({ ...input, documents: [], visit: null, refused: null }),
  initial: 'Idle',
  states: {
    Idle: {
      on: {
        MAKE: {
          target: 'Making',
          guard: ({ context, event }) => event.number === context.documents.length,
          actions: assign(({ event: { visit } }) => ({ visit, refused: null })),
        },
      },
      after: { retention: LINK_VISITOR_ENDED },
    },
    Making: {
      entry: { type: 'makeLinkDocument', params: ({ context: { linkId } }) => ({ linkId }) },
      on: {
        MADE: {
          target: 'Idle',
          actions: assign(({ context: { documents, visit }, event: { documentId } }) => ({
            documents: [
              ...documents,
              ...(visit === null ? [] : [{ visitId: visit.visitId, person: visit.person, documentId }]),
            ],
            visit: null,
          })),
        },
        REFUSED: {
          target: 'Idle',
          actions: assign(({ context: { visit }, event: { code, message, details } }) => ({
            refused: { visitId: visit?.visitId ?? '', code, message, ...(details && { details }) },
            visit: null,
          })),
        },
      },
      after: { retention: LINK_VISITOR_ENDED },
    },
    [LINK_VISITOR_ENDED]: {},
  },
});
