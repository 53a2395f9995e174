/**
 * A session of one hour for placing marks on the pages of uploaded files.
 *
 * | from | message      | to      | effects |
 * |------|--------------|---------|---------|
 * | Open | after 60 min | Expired |         |
 *
 * Expired is not stored: the actor ends.
 *
 * Source: docs/portal-values.md §§20 and 21.
 */
import type { Millis, OrganizationId, UploadId } from '../ids.ts';
import { type RecordMessage, recordMachine } from '../record.ts';

export const MARKS_SESSION_EXPIRED = 'Expired';

/** Milliseconds. */
export const MARKS_SESSION_LIFETIME_MS = 60 * 60_000;

export interface MarksSessionContext {
  readonly organizationId: OrganizationId;
  readonly files: readonly {
    readonly id: UploadId;
    readonly name: string;
    readonly contentType: string;
  }[];
  /** The request as it was sent. */
  readonly data: unknown;
  readonly createdAt: Millis;
}

export const marksSessionMachine = recordMachine<MarksSessionContext, RecordMessage>({
  id: 'marks-session',
  state: 'Open',
  context: (input) => input,
  changes: {},
  end: { state: MARKS_SESSION_EXPIRED, lifetimeMs: MARKS_SESSION_LIFETIME_MS },
});
