/**
 * `/account/documents`: pages on which a signed-in user lists, makes and follows documents of the organization. Their scripts
 * call the API with the session.
 */

import type { Clock } from '@sealwright/runtime';
import { z } from 'zod';
import {
  type DocumentService,
  type Drafts,
  type LegalHolds,
  type Mails,
  mayChange,
  parsedInput,
  type SignedInUser,
  type Signing,
} from '../../../actors/portal/api.ts';
import { cancelDocument } from '../../../contracts/portal/documents.ts';
import { getDocumentRetention } from '../../../contracts/portal/retention/retention.ts';
import { resetAuthenticatorApp } from '../../../contracts/portal/signing/authenticator-apps.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { type AccountPage, addressFrom } from '../../../web/pages/portal/account-frame.ts';
import { DONE, senderDocumentPage } from '../../../web/pages/portal/sender/document-view.tsx';
import { editorPage } from '../../../web/pages/portal/sender/editor-view.ts';
import { json, redirect } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { accountGet, accountPost, accountReply, formText } from '../accounts/account-route.ts';
import { documentId, flowActionId, idParams } from '../input/ids.ts';
import { mayCall } from '../key-scopes.ts';
import { documentListRoutes, folderNames, type ListServices } from './document-list-pages.ts';

const HISTORY_SHOWN = 25;

const MAILS_SHOWN = 100;

export function senderRoutes(
  services: ListServices & {
    readonly mails: Pick<Mails, 'ofDocument' | 'sendNow'>;
    readonly signing: Pick<Signing, 'factorHolders' | 'resetApp'>;
    readonly legalHolds: Pick<LegalHolds, 'get'>;
  },
  clock: Pick<Clock, 'now'>,
): readonly AnyRoute[] {
  const { documents, drafts, mails } = services;
  return [
    ...documentListRoutes(services, clock),
    ...editorRoutes(drafts),
    ...documentRoutes(services),
    mailRoute(documents, mails),
    factorRoute(services.signing),
  ];
}

function editorRoutes(drafts: Drafts): readonly AnyRoute[] {
  return [
    accountGet({
      path: '/account/documents/new',
      summary: 'A page for users: the editor of a new document.',
      description: 'The script of the page calls the API with the session.',
      auth: 'user',
      handle: ({ page, user }) => accountReply(200, editorPage(page, user, {})),
    }),
    accountGet({
      path: '/account/documents/drafts/{id}',
      summary: 'A page for users: the editor of a draft.',
      description: 'An unknown draft, or one of another organization, is answered with 404.',
      auth: 'user',
      params: idParams,
      async handle({ page, user, params }) {
        const { id, document, status, documents: made } = await drafts.get(user.tenant, params.id);
        const [first] = made;
        if (status === 'Sent' && first !== undefined)
          return redirect(302, addressFrom(page, `/account/documents/${first.documentId}`));
        const locations = await drafts.locations(user.tenant, id);
        return accountReply(200, editorPage(page, user, { draft: { id, document, locations } }));
      },
    }),
  ];
}

function back(page: AccountPage, id: string, done: (typeof DONE)[number]) {
  return redirect(302, addressFrom(page, `/account/documents/${encodeURIComponent(id)}?done=${done}`));
}

function mailRoute(documents: DocumentService, mails: Pick<Mails, 'ofDocument' | 'sendNow'>): AnyRoute {
  return accountPost({
    path: '/account/documents/{id}/mails/{mail}/resend',
    summary: 'Sends an e-mail now that waits for its next attempt, or failed.',
    description: 'For e-mails about documents of the organization only.',
    auth: 'user',
    params: idParams.extend({ mail: z.string().max(64) }),
    body: z.object({}),
    async handle({ page, user, params }) {
      const id = documentId(params.id);
      await documents.assertChangeable(user.tenant, id);
      const known = await mails.ofDocument(user.tenant, id);
      if (!known.some((mail) => mail.id === params.mail)) throw new PortalRefusal('NotFound');
      await mails.sendNow(params.mail).catch((error: unknown) => {
        // It was sent since the page was shown.
        if (!(error instanceof PortalRefusal && error.code === 'MailAlreadySent')) throw error;
      });
      return back(page, params.id, 'mailResent');
    },
  });
}

function factorRoute(signing: Pick<Signing, 'resetApp'>): AnyRoute {
  return accountPost({
    path: '/account/documents/{id}/participants/{action}/factor-reset/{person}',
    summary: 'Removes the authenticator app and the passkeys of a participant, who lost them.',
    description: 'It holds for all documents of the organization.',
    params: idParams.extend({ action: z.string().max(64), person: z.string().max(64) }),
    body: z.object({}),
    async handle({ page, user, params }) {
      await signing.resetApp(user.tenant, flowActionId(params.action), {
        userId: params.person,
        documentId: documentId(params.id),
      });
      return back(page, params.id, 'factorReset');
    },
  });
}

function documentRoutes({
  documents,
  mails,
  folders,
  signing,
  legalHolds,
}: ListServices & {
  legalHolds: Pick<LegalHolds, 'get'>;
  mails: Pick<Mails, 'ofDocument'>;
  signing: Pick<Signing, 'factorHolders'>;
}): readonly AnyRoute[] {
  return [
    linkRoute(documents),
    accountGet({
      path: '/account/documents/{id}',
      summary: 'A page for users: a document with its participants and history.',
      description: 'An unknown document, or one of another organization, is answered with 404.',
      auth: 'user',
      params: idParams,
      async handle({ page, user, params, query }) {
        const id = documentId(params.id);
        const document = await documents.get(user.tenant, id);
        const before = z.coerce
          .number()
          .int()
          .min(0)
          .max(1e9)
          .catch(0)
          .parse(query['older'] ?? 0);
        const { entries, visits, older } = await newestEntries(documents, user, params.id, before);
        const mayReset = mayCall(user.tenant, resetAuthenticatorApp) && !document.isDeleted;
        const html = senderDocumentPage(page, user, {
          document,
          factorHolders: mayReset ? await signing.factorHolders(user.tenant, id) : new Set(),
          mails: (await mails.ofDocument(user.tenant, id)).slice(-MAILS_SHOWN).toReversed(),
          history: entries,
          visits,
          older: older === undefined ? undefined : `/account/documents/${document.id}?older=${older}`,
          folders: await folderNames(folders, user.tenant),
          mayChange:
            mayCall(user.tenant, cancelDocument) &&
            mayChange(user.tenant, { folderId: document.folder?.id ?? null, createdBy: document.createdBy }),
          retention: mayCall(user.tenant, getDocumentRetention)
            ? await legalHolds.get(user.tenant, id)
            : undefined,
          preview: document.isDeleted ? undefined : await documents.previewPath(user.tenant, id),
          done: DONE.find((name) => name === query['done']),
        });
        return accountReply(200, html);
      },
    }),
    accountPost({
      path: '/account/documents/{id}/cancel',
      summary: 'Cancels a document for good.',
      description: 'The participants whose turn had come receive the reason by e-mail.',
      auth: 'user',
      params: idParams,
      body: z.object({ reason: formText }),
      async handle({ page, user, params, body }) {
        const { reason } = parsedInput(cancelDocument.body, body);
        await documents.cancel(user.tenant, documentId(params.id), reason);
        return back(page, params.id, 'canceled');
      },
    }),
    accountPost({
      path: '/account/documents/{id}/remind',
      summary: 'Reminds every participant whose action is pending.',
      description: 'Sends the e-mail of each pending action again.',
      auth: 'user',
      params: idParams,
      body: z.object({}),
      async handle({ page, user, params }) {
        const count = await documents.remind(user.tenant, documentId(params.id), null);
        return back(page, params.id, count > 0 ? 'reminded' : 'notReminded');
      },
    }),
    accountPost({
      path: '/account/documents/{id}/participants/{action}/remind',
      summary: 'Reminds a participant whose action is pending.',
      description: 'Sends the e-mail of the pending action again.',
      auth: 'user',
      params: idParams.extend({ action: z.string().max(64) }),
      body: z.object({}),
      async handle({ page, user, params }) {
        const { id, action } = params;
        const count = await documents.remind(user.tenant, documentId(id), flowActionId(action));
        return back(page, id, count > 0 ? 'reminded' : 'notReminded');
      },
    }),
  ];
}

/** The link of a person alone does not sign for the person: it asks for a code by e-mail. */
function linkRoute(documents: DocumentService): AnyRoute {
  return accountPost({
    path: '/account/documents/{id}/participants/{action}/link',
    summary: 'Returns the link of a participant whose action is pending.',
    description: 'An electronic signature with the link needs a code that is sent by e-mail.',
    auth: 'user',
    params: idParams.extend({ action: z.string().max(64) }),
    body: z.object({ email: formText }),
    reply: z.object({ url: z.string().describe('Address of the signing page.') }),
    async handle({ user, params, body }) {
      const { url } = await documents.actionUrl(user.tenant, documentId(params.id), {
        emailAddress: body.email,
        flowActionId: flowActionId(params.action),
        requireEmailAuthentication: true,
      });
      return json(200, { url });
    },
  });
}

/** Pages of the history from the newest entry backwards; the service counts them from the oldest. */
async function newestEntries(
  documents: DocumentService,
  { tenant }: SignedInUser,
  given: string,
  page: number,
) {
  const id = documentId(given);
  const { totalCount } = await documents.history(tenant, id, { limit: 1, offset: 0 });
  const last = Math.max(0, Math.ceil(totalCount / HISTORY_SHOWN) - 1);
  const offset = Math.max(0, last - page);
  const part = async (at: number) =>
    (await documents.history(tenant, id, { limit: HISTORY_SHOWN, offset: at })).items.toReversed();
  // The newest part may have one entry.
  const newest = await part(last);
  const before = last > 0 ? await part(last - 1) : [];
  return {
    entries: page === 0 ? newest : await part(offset),
    visits: [...newest, ...before].filter(({ type }) => type === 'Viewed' || type === 'Opened'),
    older: offset > 0 ? page + 1 : undefined,
  };
}
