/** Documents, webhook deliveries and e-mails by the time of their creation, for charts of operators. */
import type { Millis } from '../../../machines/ids.ts';

/** Member of the answer whose entries are counted. */
export type ActivitySort = 'documents' | 'webhooks' | 'mails';

/** One number for each interval, oldest first. */
type Counts = readonly number[];

export interface PortalActivity {
  readonly since: Millis;
  /** Length of one interval. */
  readonly interval: Millis;
  /** All that were created, and what became of them. */
  readonly documents: { readonly created: Counts; readonly concluded: Counts; readonly refused: Counts };
  readonly webhooks: { readonly delivered: Counts; readonly failed: Counts };
  readonly mails: { readonly sent: Counts; readonly failed: Counts };
  /** False when there is more in the window than was read. */
  readonly complete: boolean;
  /** Sorts of which not all was read: their counts are too low. */
  readonly incomplete: readonly ActivitySort[];
}

/** Mails or webhook deliveries that wait, ended or failed. */
interface PortalQueue {
  /** Number by state. */
  readonly counts: { readonly [state: string]: number };
  /** Creation of the oldest one that waits for an attempt; null when none waits. */
  readonly oldestWaiting: Millis | null;
}

export interface PortalLoad {
  /** Number by status, over all organizations. */
  readonly documents: { readonly [status: string]: number };
  readonly mails: PortalQueue;
  readonly webhooks: PortalQueue;
}

export interface OperatorActivity {
  load(): Promise<PortalLoad>;
  /** @param window length of the time that ends now */
  activity(window: Millis, intervals: number): Promise<PortalActivity>;
}
