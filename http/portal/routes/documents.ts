/**
 * `/api/documents`: creation, detail, the page address of a participant, and the end of a document by an application.
 *
 * Source: docs/portal-values.md §0, §§5, 7, 9 and 14.
 */

import { z } from 'zod';
import type {
  CreateDocuments,
  CreatedDocument,
  IdempotentRequests,
  PortalDocuments,
} from '../../../actors/portal/api.ts';
import { id, maybeFlag, maybeText, maybeUuid, members, text } from '../../../contracts/fields.ts';
import { ANA, CREATION, REASON } from '../../../contracts/portal/examples.ts';
import { queryFlag, queryText } from '../../../contracts/portal/lists.ts';
import { UNKNOWN_DOCUMENT, UNKNOWN_FILES } from '../../../contracts/portal/refusals.ts';
import { fingerprintOf } from '../../core/body/json-body.ts';
import { json } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { IDEMPOTENCY_HEADER, idempotencyKeyOf, withIdempotency } from '../idempotency.ts';
import { createDocumentsInput } from '../input/flow-inputs.ts';
import { documentId, flowActionId, idParams } from '../input/ids.ts';
import { DONE, portalRoute } from '../route.ts';
import { documentBody, documentShape } from '../shapes/documents.ts';

export const createdShape = z
  .strictObject({
    uploadId: z.string(),
    documentId: id,
    attachments: z.array(z.strictObject({ uploadId: z.string(), attachmentId: id })),
  })
  .meta({ id: 'CreatedDocument' });

export function createdBody(made: CreatedDocument): z.infer<typeof createdShape> {
  return {
    uploadId: made.uploadId,
    documentId: made.documentId,
    attachments: made.attachments.map(({ uploadId, attachmentId }) => ({ uploadId, attachmentId })),
  };
}

/** Refusals of a creation request besides those of its files. */
export const CREATION_REFUSALS = [
  'EnvelopeNameRequired',
  'EnvelopeFileSigned',
  'FolderNotFound',
  'InvalidFieldValue',
  'InvalidFlowAction',
  'InvalidIdentifier',
  'InvalidTextTag',
  'TimestampNotAvailable',
] as const;

/** Members of the creation request that may travel in the query instead; the body wins. */
const createDocumentsQuery = members({ isEnvelope: queryFlag, envelopeName: queryText });

function withQuery(body: CreateDocuments, query: z.infer<typeof createDocumentsQuery>): CreateDocuments {
  return {
    ...body,
    isEnvelope: body.isEnvelope ?? query.isEnvelope,
    envelopeName: body.envelopeName?.trim() ? body.envelopeName : query.envelopeName,
  };
}

/** Fingerprint of a repeatable request; that of the body alone if the query is empty. */
function requestFingerprint(query: z.infer<typeof createDocumentsQuery>, ofBody: string): string {
  const given = Object.values(query).some((value) => value !== undefined);
  return given ? fingerprintOf([query, ofBody]) : ofBody;
}

const reasonInput = members({ reason: text });

export function documentRoutes(
  documents: PortalDocuments,
  requests: IdempotentRequests,
): readonly AnyRoute[] {
  return [
    portalRoute({
      method: 'POST',
      path: '/api/documents',
      group: 'Documents',
      summary: 'Creates documents from uploads, with a flow of participants who sign or approve them.',
      description:
        'Each file becomes a document; with `isEnvelope` all files are merged into one document, which needs `envelopeName`. Participants act in the order of `step`; those of the same step act in parallel. The participants of the first step are notified by e-mail, unless `disablePendingActionNotifications` is true; webhooks receive `DocumentsCreated`. A refused request creates nothing. The same `Idempotency-Key` with the same request returns the same documents. Frequent refusals are `UploadNotFound` and `DocumentUnreadable` for files, `InvalidFlowAction` and `InvalidIdentifier` for participants, `FolderNotFound`, and `LimitExceeded` for more than 50 documents or 30 signers.',
      scope: 'Create',
      folderKeys: true,
      headers: [IDEMPOTENCY_HEADER],
      query: createDocumentsQuery,
      body: createDocumentsInput,
      largeBody: 'documents',
      responses: { 200: z.array(createdShape) },
      examples: { request: CREATION },
      refusals: [...UNKNOWN_FILES, ...CREATION_REFUSALS, 'IdempotencyConflict'],
      async handle({ tenant, query, body: given, fingerprint, header }) {
        const body = withQuery(given, query);
        const key = idempotencyKeyOf(header(IDEMPOTENCY_HEADER));
        const request = {
          route: 'POST /api/documents',
          key,
          fingerprint: key ? requestFingerprint(query, fingerprint()) : '',
        };
        const made = await withIdempotency(requests, tenant, request, async (seed) =>
          (await documents.create(tenant, body, seed)).map(createdBody),
        );
        return json(200, made);
      },
    }),
    portalRoute({
      method: 'GET',
      path: '/api/documents/{id}',
      group: 'Documents',
      summary: 'Returns a document with its flow.',
      description:
        'Contains the status, the flow actions with their participants, the files, attachments, fields and the validation key. All members are present; those without a value are null. A document of another organization is `DocumentNotFound`.',
      scope: 'Read',
      folderKeys: true,
      params: idParams,
      responses: { 200: documentShape },
      refusals: UNKNOWN_DOCUMENT,
      async handle({ tenant, params }) {
        return json(200, documentBody(await documents.get(tenant, documentId(params.id))));
      },
    }),
    portalRoute({
      method: 'DELETE',
      path: '/api/documents/{id}',
      group: 'Documents',
      summary: 'Deletes a document.',
      description:
        'Possible in every status. The document disappears from lists, its links stop working, and further requests are refused with `DocumentIsDeleted`; webhooks receive `DocumentDeleted`. A deletion cannot be undone. A document of another organization is `DocumentNotFound`.',
      scope: 'Create',
      folderKeys: true,
      params: idParams,
      responses: { 200: 'empty' },
      refusals: UNKNOWN_DOCUMENT,
      async handle({ tenant, params }) {
        await documents.remove(tenant, documentId(params.id));
        return DONE;
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/documents/{id}/action-url',
      group: 'Documents',
      summary: 'Returns the URLs of the signing page for one participant.',
      description:
        'For applications that send participants to the page themselves. `emailAddress`, `identifier` or both name the participant; the URLs are for the first pending action unless `flowActionId` names one. `url` is a page of its own, `embedUrl` is for a frame. Anybody who has a URL can act as the participant for 24 hours. `NoPendingActionFoundForEmailAndIdentifier`: the participant has no pending action.',
      scope: 'Sign',
      folderKeys: true,
      params: idParams,
      body: members({
        identifier: maybeText,
        emailAddress: maybeText,
        requireEmailAuthentication: maybeFlag,
        flowActionId: maybeUuid,
      }),
      responses: { 200: z.strictObject({ url: z.url(), embedUrl: z.url() }) },
      examples: { request: { emailAddress: ANA.email } },
      refusals: [
        ...UNKNOWN_DOCUMENT,
        'FlowActionNotFound',
        'NoPendingActionFoundForEmailAndIdentifier',
        'InvalidDocumentStatus',
      ],
      async handle({ tenant, params, body }) {
        const { identifier, emailAddress } = body;
        const { url, embedUrl } = await documents.actionUrl(tenant, documentId(params.id), {
          identifier: identifier ?? undefined,
          emailAddress: emailAddress ?? undefined,
          flowActionId: typeof body.flowActionId === 'string' ? flowActionId(body.flowActionId) : undefined,
          requireEmailAuthentication: body.requireEmailAuthentication ?? false,
        });
        return json(200, { url, embedUrl });
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/documents/{id}/cancellation',
      group: 'Documents',
      summary: 'Cancels a document for good.',
      description:
        'Possible while the document is Pending or Refused. Nobody can act any more; observers and the participants whose turn had come receive the `reason` by e-mail, and webhooks receive `DocumentCanceled`. A cancellation cannot be undone. Refused in other statuses: `DocumentAlreadyCanceled`, `CannotCancelExpiredDocument`, and `InvalidDocumentStatus` for a concluded document.',
      scope: 'Create',
      folderKeys: true,
      params: idParams,
      body: reasonInput,
      responses: { 200: 'empty' },
      examples: { request: REASON },
      refusals: [
        ...UNKNOWN_DOCUMENT,
        'DocumentAlreadyCanceled',
        'CannotCancelExpiredDocument',
        'InvalidDocumentStatus',
      ],
      async handle({ tenant, params, body }) {
        await documents.cancel(tenant, documentId(params.id), body.reason);
        return DONE;
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/documents/{id}/refusal',
      group: 'Documents',
      summary: 'Refuses a document on behalf of the organization.',
      description:
        'Possible while the document is Pending (otherwise `InvalidDocumentStatus`). The flow stops; observers and the participants whose turn had come receive the `reason` by e-mail, and webhooks receive `DocumentRefused`. A new version restarts the flow (`versions`, for an envelope `envelope/versions`).',
      scope: 'Create',
      folderKeys: true,
      params: idParams,
      body: reasonInput,
      responses: { 200: 'empty' },
      examples: { request: REASON },
      refusals: [...UNKNOWN_DOCUMENT, 'InvalidDocumentStatus'],
      async handle({ tenant, params, body }) {
        await documents.refuse(tenant, documentId(params.id), body.reason);
        return DONE;
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/documents/{id}/retry',
      group: 'Documents',
      summary: 'Retries the failed processing of a document now.',
      description:
        'For a document with a `processingError`, for example because a time-stamp authority did not answer. The service also retries by itself, with growing pauses. Without a failure the request changes nothing.',
      scope: 'Create',
      folderKeys: true,
      params: idParams,
      responses: { 200: 'empty' },
      refusals: [...UNKNOWN_DOCUMENT, 'InvalidDocumentStatus', 'SigningFailed'],
      async handle({ tenant, params }) {
        await documents.retryProcessing(tenant, documentId(params.id));
        return DONE;
      },
    }),
  ];
}
