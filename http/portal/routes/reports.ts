/** Monitoring reports. */
import type { Reports } from '../../../actors/portal/api.ts';
import { countDocuments, getReport, reportDocuments } from '../../../contracts/portal/reports.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { AnyRoute } from '../../core/router.ts';
import { handle } from '../handle.ts';
import { storedFileReply } from '../stored-file.ts';

export function reportRoutes(reports: Reports): readonly AnyRoute[] {
  return [
    handle(reportDocuments, ({ body }) => reports.documents(body)),
    handle(countDocuments, ({ body }) => reports.totals(body)),
    handle(getReport, async ({ params, query, header }) => {
      if (query.access_ticket === undefined) throw new PortalRefusal('NotFound');
      return storedFileReply(await reports.file(params.id.toLowerCase(), query.access_ticket), header);
    }),
  ];
}
