/** `/api/documents/…`: one document, from its creation to its end. */
import type { DocumentEdits, DocumentService, IdempotentRequests } from '../../../actors/portal/api.ts';
import type { Value } from '../../../contracts/operation.ts';
import {
  editFlow,
  notifyOfConclusion,
  replaceEnvelope,
  replaceFile,
} from '../../../contracts/portal/document-changes.ts';
import { getHistory } from '../../../contracts/portal/document-history.ts';
import {
  cancelDocument,
  deleteDocument,
  getActionUrl,
  getDocument,
  refuseDocument,
  retryDocument,
} from '../../../contracts/portal/documents.ts';
import { createDocuments, type NewDocuments } from '../../../contracts/portal/new-documents.ts';
import type { AnyRoute } from '../../core/router.ts';
import { handle } from '../handle.ts';
import { documentId, flowActionId } from '../input/ids.ts';

export function documentRoutes(
  documents: DocumentService,
  edits: DocumentEdits,
  requests: IdempotentRequests,
): readonly AnyRoute[] {
  return [
    handle(
      createDocuments,
      ({ tenant, query, body }, seed) => documents.create(tenant, withQuery(body, query), seed),
      { requests },
    ),
    handle(getDocument, ({ tenant, params }) => documents.get(tenant, documentId(params.id))),
    handle(deleteDocument, ({ tenant, params }) => documents.remove(tenant, documentId(params.id))),
    handle(getActionUrl, ({ tenant, params, body }) => {
      const { identifier, emailAddress } = body;
      return documents.actionUrl(tenant, documentId(params.id), {
        identifier: identifier ?? undefined,
        emailAddress: emailAddress ?? undefined,
        flowActionId: typeof body.flowActionId === 'string' ? flowActionId(body.flowActionId) : undefined,
        requireEmailAuthentication: body.requireEmailAuthentication ?? false,
      });
    }),
    handle(cancelDocument, ({ tenant, params, body }) =>
      documents.cancel(tenant, documentId(params.id), body.reason),
    ),
    handle(refuseDocument, ({ tenant, params, body }) =>
      documents.refuse(tenant, documentId(params.id), body.reason),
    ),
    handle(retryDocument, ({ tenant, params }) => documents.retryProcessing(tenant, documentId(params.id))),
    handle(replaceFile, ({ tenant, params, body }) => edits.newVersion(tenant, documentId(params.id), body)),
    handle(replaceEnvelope, ({ tenant, params, body }) =>
      edits.newEnvelopeVersion(tenant, documentId(params.id), body),
    ),
    handle(editFlow, async ({ tenant, params, body }) => {
      await edits.editFlow(tenant, documentId(params.id), body);
      return { rectifiedParticipants: [] };
    }),
    handle(getHistory, async ({ tenant, params, query }) => ({
      ...(await documents.history(tenant, documentId(params.id), query)),
      nextCursor: null,
    })),
    handle(notifyOfConclusion, ({ tenant, params, body }) =>
      documents.setNotifiedEmails(tenant, documentId(params.id), body.emails),
    ),
  ];
}

/** The request with the members that travel in the query; the body wins. */
function withQuery(body: NewDocuments, query: Value<typeof createDocuments.query>): NewDocuments {
  return Object.assign({}, body, {
    isEnvelope: body.isEnvelope ?? query.isEnvelope,
    envelopeName: body.envelopeName?.trim() ? body.envelopeName : query.envelopeName,
  });
}
