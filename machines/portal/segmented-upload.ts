/**
 * An upload in segments.
 *
 * | from | message    | to      | effects |                                                                |
 * |------|------------|---------|---------|----------------------------------------------------------------|
 * | Open | PIECE      | Open    |         | with the same total as before, up to the maximum of segments   |
 * | Open | COMPLETE   | Done    |         | when all bytes have arrived                                    |
 * | Open | after 24 h | Expired |         |                                                                |
 * | Done | after 24 h | Expired |         |                                                                |
 *
 * Segments arrive in any order and may repeat. Done records the completion, for a client that repeats COMPLETE.
 * Expired is not stored: the actor ends.
 *
 * Source: docs/portal-values.md §4; order, bounds and age are ours.
 */
import { assign, setup } from 'xstate';
import type { ApplicationId, Millis, OrganizationId } from '../ids.ts';

export const SEGMENTED_EXPIRED = 'Expired';

/** Time after its start within which a segmented upload must end, and for which it is remembered, milliseconds. */
export const SEGMENTED_LIFETIME_MS = 24 * 3_600_000;

/** Maximum number of segments of one upload; clients send 2 MiB each. */
export const MAX_SEGMENTS = 1024;

/** First and last byte, both included. */
export type SegmentRange = readonly [from: number, to: number];

export interface SegmentedUploadContext {
  readonly organizationId: OrganizationId;
  readonly applicationId: ApplicationId;
  readonly createdAt: Millis;
  /** Total bytes; null before the first segment. */
  readonly total: number | null;
  readonly name: string;
  readonly contentType: string;
  /** Sorted by the first byte. */
  readonly pieces: readonly SegmentRange[];
}

interface SegmentMessage {
  readonly type: 'PIECE';
  readonly at: Millis;
  readonly from: number;
  readonly to: number;
  readonly total: number;
  readonly name: string;
  readonly contentType: string;
}

export type SegmentedUploadMessage = SegmentMessage | { readonly type: 'COMPLETE'; readonly at: Millis };

/** True when the segments cover all bytes. */
export function isWhole({ total, pieces }: Pick<SegmentedUploadContext, 'total' | 'pieces'>): boolean {
  if (total === null) return false;
  let next = 0;
  for (const [from, to] of pieces) {
    if (from > next) return false;
    next = Math.max(next, to + 1);
  }
  return next === total;
}

function fits(context: SegmentedUploadContext, { from, to, total }: SegmentMessage): boolean {
  if (context.total !== null && context.total !== total) return false;
  return context.pieces.length < MAX_SEGMENTS || context.pieces.some((piece) => isSame(piece, from, to));
}

function isSame(piece: SegmentRange, from: number, to: number): boolean {
  return piece[0] === from && piece[1] === to;
}

function withSegment(pieces: readonly SegmentRange[], { from, to }: SegmentMessage): readonly SegmentRange[] {
  if (pieces.some((piece) => isSame(piece, from, to))) return pieces;
  return [...pieces, [from, to] as const].sort((left, right) => left[0] - right[0] || left[1] - right[1]);
}

export const segmentedUploadMachine = setup({
  delays: { lifetime: SEGMENTED_LIFETIME_MS },
  types: {
    context: {} as SegmentedUploadContext,
    input: {} as SegmentedUploadContext,
    events: {} as SegmentedUploadMessage,
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
            pieces: withSegment(context.pieces, event),
          })),
        },
        COMPLETE: { guard: ({ context }) => isWhole(context), target: 'Done' },
      },
      after: { lifetime: SEGMENTED_EXPIRED },
    },
    Done: { after: { lifetime: SEGMENTED_EXPIRED } },
    [SEGMENTED_EXPIRED]: {},
  },
});
