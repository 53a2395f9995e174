/** Documents of all organizations that wait for a mailbox. Source: docs/decisions/0570-what-waits-for-a-mailbox.md. */
import type { WaitingDocuments } from '../../../actors/portal/api.ts';
import {
  beginWaitingSession,
  leaveWaiting,
  listWaiting,
  sendWaitingCode,
  signWaiting,
} from '../../../contracts/portal/signing/waiting.ts';
import { siteNetwork } from '../../core/access/addresses.ts';
import type { AnyRoute, BodyCredentials } from '../../core/router.ts';
import { requestOriginOf } from '../access-check.ts';
import { handle } from '../handle.ts';

export function waitingRoutes(waiting: WaitingDocuments): readonly AnyRoute[] {
  const authorize = async ({ credentials }: { readonly credentials: BodyCredentials }) => {
    await waiting.sessions.read(credentials.ticket ?? '');
  };
  return [
    handle(sendWaitingCode, ({ body, caller }) =>
      waiting.sessions.sendCode(body, siteNetwork(caller.address)),
    ),
    handle(beginWaitingSession, ({ body: { email, code }, caller }) =>
      waiting.sessions.begin(email, code, siteNetwork(caller.address)),
    ),
    handle(listWaiting, ({ body: { ticket, cursor } }) => waiting.list(ticket, cursor), { authorize }),
    handle(
      signWaiting,
      async (request) => {
        const { ticket, ...signing } = request.body;
        return { results: await waiting.sign(ticket, signing, requestOriginOf(request)) };
      },
      { authorize },
    ),
    handle(leaveWaiting, ({ body }) => waiting.sessions.leave(body.ticket)),
  ];
}
