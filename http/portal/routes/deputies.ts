/** Deputies of people who have proven their mailboxes, and those of a document. Source: docs/decisions/0580-deputies.md. */
import type { Deputies, DeputySigning } from '../../../actors/portal/api.ts';
import {
  actAsDeputy,
  documentDeputies,
  endDeputy,
  listForDeputy,
  nameDeputy,
  readAsDeputy,
  viewDeputies,
} from '../../../contracts/portal/signing/deputies.ts';
import { siteNetwork } from '../../core/access/addresses.ts';
import type { AnyRoute, BodyCredentials } from '../../core/router.ts';
import { requestOriginOf } from '../access-check.ts';
import { handle } from '../handle.ts';
import { documentId } from '../input/ids.ts';
import { storedFileReply } from '../stored-file.ts';

export function deputyRoutes(deputies: Deputies, acts: DeputySigning): readonly AnyRoute[] {
  const authorize = ({ credentials }: { readonly credentials: BodyCredentials }) =>
    deputies.checkAccess(credentials.ticket ?? '');
  return [
    handle(viewDeputies, ({ body }) => deputies.view(body.ticket), { authorize }),
    handle(
      nameDeputy,
      ({ body: { ticket, ...given }, caller }) => deputies.name(ticket, given, siteNetwork(caller.address)),
      { authorize },
    ),
    handle(endDeputy, ({ body: { ticket, id, person } }) => deputies.end(ticket, id, person), { authorize }),
    handle(listForDeputy, ({ body: { ticket, person, cursor } }) => acts.list(ticket, person, cursor), {
      authorize,
    }),
    handle(
      readAsDeputy,
      async (request) => {
        const { ticket, ...given } = request.body;
        const file = await acts.content(ticket, given, requestOriginOf(request));
        return storedFileReply(file, request.header);
      },
      { authorize },
    ),
    handle(
      actAsDeputy,
      async (request) => {
        const { ticket, ...given } = request.body;
        await acts.act(ticket, given, requestOriginOf(request));
      },
      { authorize },
    ),
    handle(documentDeputies, ({ tenant, params }) => acts.ofDocument(tenant, documentId(params.id))),
  ];
}
