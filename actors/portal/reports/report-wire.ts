/** Messages between the reading thread and the thread that writes the spreadsheet. */

/** One line: id, name, organization, createdBy, creationDate, updateDate, status, isEnvelope, signatures. */
export type ReportLine = readonly [string, string, string, string, number, number, string, boolean, number];

export interface ReportWorkerSetup {
  /** File to write; must not exist. */
  readonly path: string;
}

export type ToReportWorker =
  | { readonly type: 'lines'; readonly lines: readonly ReportLine[] }
  | { readonly type: 'end' };

/** `written` answers each `lines`: the next may be sent. */
export type FromReportWorker =
  | { readonly type: 'written' }
  | { readonly type: 'done' }
  | { readonly type: 'failed'; readonly message: string };
