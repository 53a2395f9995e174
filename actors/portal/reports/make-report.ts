/** Makes the spreadsheet of a report. Source: docs/portal-values.md §18. */
import { rm } from 'node:fs/promises';
import { type ActorStore, type EffectHandler, type Faults, Retryable } from '@sealwright/runtime';
import type { MakeReportEffect, ReportMessage } from '../../../machines/portal/report.ts';
import type { CreatedDocumentRow } from '../document-records/document-index.ts';
import type { Blobs } from '../uploads/blobs.ts';
import { countCreated, createdBetween } from './report-rows.ts';
import type { ReportLine } from './report-wire.ts';
import { ReportWriter } from './report-writer.ts';
import '../../shared/document-faults.ts';

type WithoutTime<Event> = Event extends unknown ? Omit<Event, 'at'> : never;

/** One at a time, beside all other work; a try that was cut short begins anew. */
export function makeReportHandler(
  store: Pick<ActorStore, 'rows' | 'counters'>,
  blobs: Blobs,
  faults: Faults,
): EffectHandler<MakeReportEffect> {
  return {
    after: 'visible',
    partitioning: { atOnce: 1, perPartition: 1, partitionOf: () => 'reports' },
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
  };
}

function lineOf(facts: CreatedDocumentRow): ReportLine {
  const { id, name, organizationName, createdBy, creationDate, updateDate } = facts;
  const { status, isEnvelope, signatures } = facts;
  return [id, name, organizationName, createdBy, creationDate, updateDate, status, isEnvelope, signatures];
}
