/** Reports of the Monitor role (docs/portal-values.md §18). */
import type { Millis } from '../../../machines/ids.ts';
import type { StoredFile } from './uploads.ts';

export interface PortalReports {
  /** Path with a ticket of one hour. */
  documents(range: {
    readonly from: Millis | null;
    readonly to: Millis | null;
  }): Promise<{ readonly location: string }>;
  totals(range: { readonly from: Millis | null; readonly to: Millis | null }): Promise<{
    readonly totalDocuments: number;
    readonly totalEnvelopes: number;
  }>;
  /** Waits until the report is made. Refusals: `NotFound`. */
  file(id: string, ticket: string): Promise<StoredFile>;
}
