/** Monitoring reports, only for keys of the role Monitor. Source: docs/portal-values.md §0, §18. */

import { z } from 'zod';
import { end, entity, members, moment, shown } from '../fields.ts';
import type { Value } from '../operation.ts';
import { EXAMPLE_IDS } from './examples.ts';
import { idIn } from './ids.ts';
import { queryText } from './lists.ts';
import { FILE_HEADERS, operationsOf } from './operation.ts';

/** Milliseconds; null: no bound. */
const period = members({
  startDateUtc: shown(
    moment.nullish(),
    'First day or time of the period, included. UTC. Absent: from the beginning.',
    '2026-01-01',
  ),
  endDateUtc: shown(
    end.nullish(),
    'Last day or time of the period, included. UTC. Absent: now.',
    '2026-06-30',
  ),
})
  .transform(({ startDateUtc, endDateUtc }) => ({ from: startDateUtc ?? null, to: endDateUtc ?? null }))
  .meta({ id: 'Period' });

const creationTotals = entity('CreationTotals', {
  totalDocuments: shown(z.int(), 'Documents created in the period, without envelopes.', 420),
  totalEnvelopes: shown(z.int(), 'Envelopes created in the period.', 17),
});
export type CreationTotals = Value<typeof creationTotals>;

const PERIOD = { startDateUtc: '2026-01-01', endDateUtc: '2026-12-31' };

const operation = operationsOf({ group: 'Monitoring' });

export const reportDocuments = operation('POST /api/reports/documents/date', {
  summary: 'Creates a report of the documents created in a period.',
  description:
    'For keys of the role Monitor. Covers all organizations, by date of creation, bounds included; deleted documents are included. `location` is the path of a spreadsheet, with a ticket that is valid for an hour; the spreadsheet is created after the reply.',
  scope: 'Read',
  auth: 'monitor',
  body: period,
  reply: entity('ReportLocation', {
    location: shown(
      z.string(),
      'Path with a ticket, relative to the service. It needs no key.',
      '/api/documents/3f2504e0-4f89-41d3-9a0c-0305e82c3301/download?ticket=0f8c1d2e',
    ),
  }),
  examples: { request: PERIOD },
});

export const countDocuments = operation('POST /api/documents/date', {
  summary: 'Counts the documents and envelopes created in a period.',
  description:
    'For keys of the role Monitor. Covers all organizations, by date of creation, bounds included; deleted documents count. An envelope counts once, in `totalEnvelopes` and not in `totalDocuments`.',
  scope: 'Read',
  auth: 'monitor',
  body: period,
  reply: creationTotals,
  examples: { request: PERIOD },
});

export const getReport = operation('GET /api/reports/{id}', {
  summary: 'Sends the report of a ticket.',
  description:
    'The path with its ticket comes from `POST /api/reports/documents/date`. Needs no key. The reply waits until the report is complete. An unknown or expired ticket is answered with 404.',
  auth: 'anonymous',
  headers: FILE_HEADERS,
  params: z.object({ id: idIn('Id of the report, part of its `location`.') }),
  query: members({
    access_ticket: shown(
      queryText,
      'Ticket of the report’s link. It is valid for an hour.',
      EXAMPLE_IDS.ticket,
    ),
  }),
  reply: 'file',
  refusals: ['NotFound'],
});
