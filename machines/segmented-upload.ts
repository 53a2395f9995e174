/**
 * An upload that comes in pieces.
 *
 * | from | event      | to      | effects |                                                                |
 * |------|------------|---------|---------|----------------------------------------------------------------|
 * | Open | PIECE      | Open    |         | of the same total as those before, and not one piece too many  |
 * | Open | COMPLETE   | Done    |         | when all bytes are there                                       |
 * | Open | after 24 h | Expired |         |                                                                |
 * | Done | after 24 h | Expired |         |                                                                |
 *
 * Pieces come in any order and more than once. Done remembers that the upload was made, for a client that asks again.
 * Expired is no state that is kept: the actor ends.
 *
 * Source: portal-gaps §4, "Segmented upload"; order, bounds and age are ours.
 */
import { assign, setup } from 'xstate';
import type { ApplicationId, Millis, OrganizationId } from './ids.ts';

export const SEGMENTED_EXPIRED = 'Expired';

/** How long after its opening an upload in pieces may take, and is remembered, milliseconds. */
export const SEGMENTED_LIFETIME = 24 * 3_600_000;

/** Most pieces of one upload; clients send 2 MiB each. */
export const MOST_PIECES = 1024;

/** First and last byte, both included. */
export type PieceRange = readonly [from: number, to: number];

export interface SegmentedUploadContext {
  readonly organizationId: OrganizationId;
  readonly applicationId: ApplicationId;
  readonly createdAt: Millis;
  /** Bytes of the whole; null before the first piece. */
  readonly total: number | null;
  readonly name: string;
  readonly contentType: string;
  /** By their first byte. */
  readonly pieces: readonly PieceRange[];
}

export interface PieceEvent {
  readonly type: 'PIECE';
  readonly at: Millis;
  readonly from: number;
  readonly to: number;
  readonly total: number;
  readonly name: string;
  readonly contentType: string;
}

export type SegmentedUploadEvent = PieceEvent | { readonly type: 'COMPLETE'; readonly at: Millis };

/** True when the pieces leave no byte out. */
export function isWhole({ total, pieces }: Pick<SegmentedUploadContext, 'total' | 'pieces'>): boolean {
  if (total === null) return false;
  let next = 0;
  for (const [from, to] of pieces) {
    if (from > next) return false;
    next = Math.max(next, to + 1);
  }
  return next === total;
}

function fits(context: SegmentedUploadContext, { from, to, total }: PieceEvent): boolean {
  if (context.total !== null && context.total !== total) return false;
  return context.pieces.length < MOST_PIECES || context.pieces.some((piece) => isSame(piece, from, to));
}

function isSame(piece: PieceRange, from: number, to: number): boolean {
  return piece[0] === from && piece[1] === to;
}

function withPiece(pieces: readonly PieceRange[], { from, to }: PieceEvent): readonly PieceRange[] {
  if (pieces.some((piece) => isSame(piece, from, to))) return pieces;
  return [...pieces, [from, to] as const].sort((left, right) => left[0] - right[0] || left[1] - right[1]);
}

export const segmentedUploadMachine = setup({
  types: {
    context: {} as SegmentedUploadContext,
    input: {} as SegmentedUploadContext,
    events: {} as SegmentedUploadEvent,
  },
}).createMachine({
  id: 'segmented-upload',
  context: ({ input }) => input,
  initial: 'Open',
  states: {
    Open: {
      on: {
        PIECE: {
          guard: ({ context, event }) => fits(context, event),
          actions: assign(({ context, event }) => ({
            total: event.total,
            name: event.name,
            contentType: event.contentType,
            pieces: withPiece(context.pieces, event),
          })),
        },
        COMPLETE: { guard: ({ context }) => isWhole(context), target: 'Done' },
      },
      after: { [SEGMENTED_LIFETIME]: SEGMENTED_EXPIRED },
    },
    Done: { after: { [SEGMENTED_LIFETIME]: SEGMENTED_EXPIRED } },
    [SEGMENTED_EXPIRED]: {},
  },
});
