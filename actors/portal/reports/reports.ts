/**
 * Reports and totals over all organizations.
 *
 * Source: docs/portal-values.md §0, §18.
 */
import type { WithoutTime } from '@sealwright/runtime/actions';
import { makeReport } from '../../../machines/portal/report.ts';
import '../../shared/failures/document-fault-points.ts';
import { rm } from 'node:fs/promises';
import { type ActorStore, accepted, defineActor, type Faults, Retryable } from '@sealwright/runtime';
import type { CreationTotals } from '../../../contracts/portal/reports.ts';
import { parsePortalId } from '../../../machines/ids.ts';
import { badField, PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import {
  REPORT_EXPIRED,
  type ReportContext,
  type ReportMessage,
  type ReportRange,
  reportMachine,
} from '../../../machines/portal/report.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { StepWaits } from '../../shared/coordination/step-waits.ts';
import { countOf } from '../../shared/lists/stored-rows.ts';
import type { CreatedDocumentRow } from '../document-records/document-index.ts';
import type { Tickets } from '../shared/tickets.ts';
import { type Blobs, blobCounters, type StoredFile } from '../uploads/blobs.ts';
import { countCreated, createdBetween, rangeText } from './report-rows.ts';
import type { ReportLine } from './report-wire.ts';
import { ReportWriter } from './report-writer.ts';

/** Makes the spreadsheet of a report. One at a time, beside all other work; a try that was cut short begins anew. */
export function makeReportHandler(
  store: Pick<ActorStore, 'rows' | 'counters'>,
  blobs: Blobs,
  faults: Faults,
) {
  return makeReport.handledBy({
    after: 'visible',
    tries: 5,
    async run({ from, to }, { signal }): Promise<WithoutTime<ReportMessage>> {
      const { totalDocuments, totalEnvelopes } = await countCreated(store, { from, to });
      const path = blobs.temporaryPath();
      const writer = new ReportWriter(path);
      let rows = 0;
      try {
        for await (const piece of createdBetween(store, { from, to }, totalDocuments + totalEnvelopes)) {
          if (signal.aborted) throw new Retryable('stopping', 'The service stops; the report is made later.');
          rows += piece.length;
          await writer.write(piece.map(lineOf));
        }
        await writer.end();
        await faults.at('portal.report.written');
        return { type: 'MADE', blob: await blobs.adopt(path), rows };
      } finally {
        await writer.close();
        await rm(path, { force: true });
      }
    },
    failed: (_, { code, message }) => ({ type: 'FAILED', code, message }),
  });
}

function lineOf(facts: CreatedDocumentRow): ReportLine {
  const { id, name, organizationName, createdBy, creationDate, updateDate } = facts;
  const { status, isEnvelope, signatures } = facts;
  return [id, name, organizationName, createdBy, creationDate, updateDate, status, isEnvelope, signatures];
}

const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
/** Maximum wait for a report in progress, milliseconds; then the client asks again. */
const REPORT_TIMEOUT_MS = 5 * 60_000;
/** Maximum number of reports in progress. */
const MAX_IN_PROGRESS = 32;
const IN_PROGRESS_STATUS = 'reports-making';

export const REPORT = defineActor('report', {
  machine: reportMachine,
  effects: [makeReport],
  version: 1,
  counters: ({ state, context }): { readonly [name: string]: number } => {
    const { blob } = context;
    return {
      ...(state === 'Making' && { [IN_PROGRESS_STATUS]: 1 }),
      ...(blob !== null && blobCounters([blob])),
    };
  },
  ends: ({ state }) => state === REPORT_EXPIRED,
});

export class Reports {
  constructor(
    private readonly runtime: Pick<ServiceRuntime, 'actors' | 'store' | 'clock' | 'ids'>,
    private readonly blobs: Blobs,
    private readonly tickets: Tickets,
    private readonly waits: StepWaits,
  ) {}

  /** Refusals: `BadRequest` for an end before the start, `TooManyRequests`. */
  async documents(range: ReportRange): Promise<{ readonly location: string }> {
    const { actors, store, clock, ids } = this.runtime;
    checkRange(range);
    if ((await countOf(store, IN_PROGRESS_STATUS)) >= MAX_IN_PROGRESS) {
      throw new PortalRefusal('TooManyRequests', `${MAX_IN_PROGRESS} reports are being made.`, {
        retryAfterSeconds: 60,
      });
    }
    const id = ids.uuid();
    const at = clock.now();
    const { from, to } = range;
    await accepted(
      actors.create(REPORT, id, { from, to, createdAt: at }),
      () => new PortalRefusal('ServiceBusy'),
    );
    return { location: `/api/reports/${id}?access_ticket=${this.tickets.issue('report', [id], at)}` };
  }

  /** Refusals: `BadRequest` for an end before the start. */
  async totals(range: ReportRange): Promise<CreationTotals> {
    checkRange(range);
    return countCreated(this.runtime.store, range);
  }

  /** Refusals: `NotFound`, `InternalError` for a report that failed, `ServiceBusy` when it takes very long. */
  async file(id: string, ticket: string): Promise<StoredFile> {
    const reportId = parsePortalId('DocumentId', id);
    const read = this.tickets.read('report', ticket, this.runtime.clock.now());
    if (!reportId || read?.expired !== false || read.claims[0] !== reportId)
      throw new PortalRefusal('NotFound');
    const { state, context } = await this.#finished(reportId);
    if (state === 'Failed') throw new PortalRefusal('InternalError', 'The report could not be made.');
    if (context.blob === null) throw new PortalRefusal('ServiceBusy', undefined, { retryAfterSeconds: 30 });
    const range = rangeText(context);
    return this.blobs.file(context.blob, `documents${range && `_${range}`}.xlsx`, XLSX);
  }

  /** Returns the report once it is complete or failed, or its current state after the timeout. */
  async #finished(id: string): Promise<{ readonly state: string; readonly context: ReportContext }> {
    const isMade = ({ state }: { readonly state: string }) => state !== 'Making';
    const end = this.waits.begin(REPORT, id, isMade, REPORT_TIMEOUT_MS);
    try {
      const report = await this.#read(id);
      return isMade(report) ? report : ((await end.actor) ?? (await this.#read(id)));
    } finally {
      end.cancel();
    }
  }

  async #read(id: string): Promise<{ readonly state: string; readonly context: ReportContext }> {
    const actor = await this.runtime.actors.read(REPORT, id);
    if (actor === undefined) throw new PortalRefusal('NotFound');
    return { state: actor.state, context: actor.context };
  }
}

function checkRange({ from, to }: ReportRange): void {
  if (from === null || to === null || from <= to) return;
  throw badField('EndDateUtc', 'must not be before StartDateUtc');
}
