/** The public history of a document. Source: docs/decisions/0053-tamper-evident-history.md. */

import type { HistoryProof, JournalData } from '@sealwright/runtime';
import type { Millis } from '../../../machines/ids.ts';

export const HISTORY_ENTRY_TYPES = [
  'Created',
  'Signed',
  'Approved',
  'Refused',
  'Edited',
  'Reminded',
  'ExpiryWarned',
  'Canceled',
  'Expired',
  'Concluded',
  'Deleted',
  'ProcessingFailed',
  'Mailed',
  'MailDelivered',
  'MailRefused',
  'Opened',
  'Viewed',
  'CodeSent',
  'WrongCode',
  'Downloaded',
  'Other',
] as const;

export interface DocumentHistoryEntry {
  /** From 1 per document. */
  readonly id: number;
  readonly type: (typeof HISTORY_ENTRY_TYPES)[number];
  readonly at: Millis;
  /** A sentence for people. */
  readonly message: string;
  /** Name of the participant or application; null for the service itself and in entries of earlier programs. */
  readonly by: string | null;
  /** The participant. */
  readonly userId: string | null;
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
  /** State, cause and data as they are hashed. */
  readonly state: string;
  readonly cause: string;
  readonly data: JournalData | null;
  /** SHA-256 over the entry and the hash of the one before; null in entries of earlier programs. */
  readonly hash: string | null;
}

export interface DocumentHistoryPage {
  readonly items: readonly DocumentHistoryEntry[];
  readonly totalCount: number;
  /** Of the newest sealed entry; null while no checkpoint covers the document. */
  readonly proof: HistoryProof | null;
}
