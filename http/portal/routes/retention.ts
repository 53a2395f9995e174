/** Rules of retention, and legal holds. */
import type { Erasures, LegalHolds, Retention } from '../../../actors/portal/api.ts';
import { erasePerson, listErasures } from '../../../contracts/portal/retention/erasures.ts';
import {
  getDocumentRetention,
  getRetention,
  holdDocument,
  holdFolder,
  listRetention,
  setRetention,
} from '../../../contracts/portal/retention/retention.ts';
import type { AnyRoute } from '../../core/router.ts';
import { handle } from '../handle.ts';
import { documentId, folderId } from '../input/ids.ts';
import { pageReply } from '../input/query-fields.ts';

export function retentionRoutes(
  retention: Retention,
  holds: LegalHolds,
  erasures: Erasures,
): readonly AnyRoute[] {
  return [
    handle(erasePerson, ({ tenant, body }) => erasures.begin(tenant, body)),
    handle(listErasures, async ({ tenant, query }) => pageReply(await erasures.list(tenant, query))),
    handle(getRetention, async ({ tenant }) => {
      const { noticeDays, rules } = await retention.get(tenant);
      return { noticeDays, rules: [...rules] };
    }),
    handle(setRetention, ({ tenant, body }) => retention.set(tenant, body)),
    handle(listRetention, async ({ tenant, query }) => pageReply(await retention.list(tenant, query))),
    handle(getDocumentRetention, ({ tenant, params }) => holds.get(tenant, documentId(params.id))),
    handle(holdDocument, ({ tenant, params, body }) =>
      holds.ofDocument(tenant, documentId(params.id), body.reason),
    ),
    handle(holdFolder, ({ tenant, params, body }) =>
      holds.ofFolder(tenant, folderId(params.id), body.reason),
    ),
  ];
}
