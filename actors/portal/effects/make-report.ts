/** Makes the spreadsheet of a report. Source: portal-gaps §18. */
import { rm } from 'node:fs/promises';
import type { MakeReportEffect, ReportEvent } from '../../../machines/report.ts';
import { type ActorStore, type EffectHandler, Retryable } from '../../../runtime/index.ts';
import type { Blobs } from '../blobs.ts';
import type { CreatedFacts } from '../document-index.ts';
import { countCreated, createdBetween } from '../report-rows.ts';
import type { ReportLine } from '../report-wire.ts';
import { ReportWriter } from '../report-writer.ts';

type WithoutTime<Event> = Event extends unknown ? Omit<Event, 'at'> : never;

export interface MakeReportParts {
  readonly store: Pick<ActorStore, 'rows' | 'counters'>;
  readonly blobs: Blobs;
}

/** One at a time, beside all other work; a try that was cut short begins anew. */
export function makeReportHandler({ store, blobs }: MakeReportParts): EffectHandler<MakeReportEffect> {
  return {
    after: 'visible',
    lanes: { atOnce: 1, perLane: 1, of: () => 'reports' },
    async run({ from, to }, { signal }): Promise<WithoutTime<ReportEvent>> {
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
        return { type: 'MADE', blob: await blobs.adopt(path), rows };
      } finally {
        await writer.close();
        await rm(path, { force: true });
      }
    },
    failed: (_, { code, message }) => ({ type: 'FAILED', code, message }),
  };
}

function lineOf(facts: CreatedFacts): ReportLine {
  const { id, name, organizationName, createdBy, creationDate, updateDate } = facts;
  const { status, isEnvelope, signatures } = facts;
  return [id, name, organizationName, createdBy, creationDate, updateDate, status, isEnvelope, signatures];
}
