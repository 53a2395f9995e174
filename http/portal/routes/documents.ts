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
import { fingerprintOf } from '../../core/body/json-body.ts';
import { json } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { ANA, CREATION, REASON } from '../description/example-values.ts';
import { IDEMPOTENCY_HEADER, idempotencyKeyOf, withIdempotency } from '../idempotency.ts';
import { maybeFlag, maybeText, maybeUuid, members, text } from '../input/fields.ts';
import { createDocumentsInput } from '../input/flow-inputs.ts';
import { documentId, flowActionId, idParams } from '../input/ids.ts';
import { queryFlag, queryText } from '../input/query-fields.ts';
import { UNKNOWN_DOCUMENT, UNKNOWN_FILES } from '../refusal-groups.ts';
import { DONE, portalRoute } from '../route.ts';
import { documentBody, documentShape } from '../shapes/documents.ts';
import { id } from '../shapes/shared-shapes.ts';

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
      summary: 'Makes documents of uploads, with the flow of those who sign and approve them.',
      description:
        'Each file becomes a document; with `isEnvelope` all become one, which needs `envelopeName`. Participants act in the order of `step`; those of equal steps act at the same time. The participants of the first step are mailed, unless `disablePendingActionNotifications` is true; webhooks get `DocumentsCreated`. A request with a mistake creates nothing. The same `Idempotency-Key` with the same request gives the same documents. Expect `UploadNotFound` and `DocumentUnreadable` for files, `InvalidFlowAction` and `InvalidIdentifier` for participants, `FolderNotFound`, and `LimitExceeded` for more than 50 documents or 30 signers.',
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
      summary: 'Tells everything about a document.',
      description:
        'Status, participants with what each did, files, attachments, fields and the validation key. All members are present; those without a value are null. Changes nothing. `DocumentNotFound` also stands for documents of other organizations.',
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
        'In any status. The document is gone from lists, its links end, and further requests answer `DocumentIsDeleted`; webhooks get `DocumentDeleted`. It cannot be undone. `DocumentNotFound` also stands for documents of other organizations.',
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
      summary: 'Gives the addresses of the signing page for one participant.',
      description:
        'For applications that send participants to the page themselves. `emailAddress`, `identifier` or both name the participant; the first pending action counts unless `flowActionId` names one. `url` is for a page of its own, `embedUrl` for a frame. Who has an address can act as the participant for 24 hours. `NoPendingActionFoundForEmailAndIdentifier`: nobody of this name can act now.',
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
        'Only documents that are Pending or Refused. Participants can no longer act and are mailed the `reason`; webhooks get `DocumentCanceled`. It cannot be undone. `DocumentAlreadyCanceled`, `CannotCancelExpiredDocument` and, for a concluded one, `InvalidDocumentStatus`.',
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
      summary: 'Refuses a document; a new version lets its flow begin again.',
      description:
        'On behalf of the organization, while the document is Pending. The flow stops, participants are mailed the `reason`, and webhooks get `DocumentRefused`. `POST /api/documents/{id}/versions` restarts it with another file. In another status `InvalidDocumentStatus`.',
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
      summary: 'Tries again at once what could not be signed or concluded.',
      description:
        'For a document whose detail names a failure of processing, for example of a time-stamp authority. The service also tries by itself; this does not wait for the next time. Does nothing when nothing has failed.',
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
