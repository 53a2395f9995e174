/**
 * Monitoring reports, only for keys of the role Monitor.
 *
 * Source: docs/portal-values.md §0, §18.
 */

import { z } from 'zod';
import type { PortalReports } from '../../../actors/portal/api.ts';
import { end, members, moment } from '../../../contracts/fields.ts';
import { queryText } from '../../../contracts/portal/lists.ts';
import type { Millis } from '../../../machines/ids.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { json } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { idParams } from '../input/ids.ts';
import { portalRoute } from '../route.ts';
import { FILE_HEADERS, storedFileReply } from '../stored-file.ts';

const rangeInput = members({ startDateUtc: moment.nullish(), endDateUtc: end.nullish() });

const PERIOD = { startDateUtc: '2026-01-01', endDateUtc: '2026-12-31' };

export function reportRoutes(reports: PortalReports): readonly AnyRoute[] {
  return [
    portalRoute({
      method: 'POST',
      path: '/api/reports/documents/date',
      group: 'Monitoring',
      summary: 'Creates a report of the documents created in a period.',
      description:
        'For keys of the role Monitor. Covers all organizations, by date of creation, bounds included; deleted documents are included. `location` is the path of a spreadsheet, with a ticket that is valid for an hour; the spreadsheet is created after the reply.',
      scope: 'Read',
      auth: 'monitor',
      body: rangeInput,
      responses: { 200: z.strictObject({ location: z.string() }) },
      examples: { request: PERIOD },
      refusals: [],
      async handle({ body }) {
        const { location } = await reports.documents(rangeOf(body));
        return json(200, { location });
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/documents/date',
      group: 'Monitoring',
      summary: 'Counts the documents and envelopes created in a period.',
      description:
        'For keys of the role Monitor. Covers all organizations, by date of creation, bounds included; deleted documents count. An envelope counts once, in `totalEnvelopes` and not in `totalDocuments`.',
      scope: 'Read',
      auth: 'monitor',
      body: rangeInput,
      responses: { 200: z.strictObject({ totalDocuments: z.int(), totalEnvelopes: z.int() }) },
      examples: { request: PERIOD },
      refusals: [],
      async handle({ body }) {
        const { totalDocuments, totalEnvelopes } = await reports.totals(rangeOf(body));
        return json(200, { totalDocuments, totalEnvelopes });
      },
    }),
    portalRoute({
      method: 'GET',
      path: '/api/reports/{id}',
      group: 'Monitoring',
      summary: 'Sends the report of a ticket.',
      description:
        'The path with its ticket comes from `POST /api/reports/documents/date`. Needs no key. The reply waits until the report is complete. An unknown or expired ticket is answered with 404.',
      auth: 'anonymous',
      headers: FILE_HEADERS,
      params: idParams,
      query: members({ access_ticket: queryText }),
      responses: { 200: 'file', 206: 'file' },
      refusals: ['NotFound'],
      async handle({ params, query, header }) {
        if (query.access_ticket === undefined) throw new PortalRefusal('NotFound');
        return storedFileReply(await reports.file(params.id.toLowerCase(), query.access_ticket), header);
      },
    }),
  ];
}

/** Refusals: `BadRequest` for a period that ends before it begins. */
function rangeOf({ startDateUtc, endDateUtc }: z.infer<typeof rangeInput>): {
  readonly from: Millis | null;
  readonly to: Millis | null;
} {
  const range = { from: startDateUtc ?? null, to: endDateUtc ?? null };
  if (range.from === null || range.to === null || range.from <= range.to) return range;
  const sentence = 'The EndDateUtc field must not be before StartDateUtc.';
  throw new PortalRefusal('BadRequest', sentence, { errors: { EndDateUtc: [sentence] } });
}
