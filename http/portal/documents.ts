/**
 * `/api/documents`: creation, detail, the page for a participant, and how an application ends a document.
 *
 * Source: Document Signing Portal API, "Endpoints"; portal-gaps §§5, 7, 9 and 14.
 */
import { z } from 'zod';
import type { IdempotentRequests, PortalDocuments } from '../../actors/portal/api.ts';
import { json } from '../reply.ts';
import type { AnyRoute } from '../router.ts';
import { maybeFlag, maybeText, maybeUuid, members, text } from './fields.ts';
import { documentId, flowActionId, idParams } from './ids.ts';
import { createDocumentsInput } from './inputs.ts';
import { UNKNOWN_DOCUMENT, UNKNOWN_FILES } from './refusal-groups.ts';
import { fingerprintOf, REPEAT_HEADER, repeatable, repeatKey } from './repeatable.ts';
import { DONE, portalRoute } from './route.ts';
import { documentBody, documentShape } from './shapes/documents.ts';
import { id } from './shapes/parts.ts';

const createdShape = z
  .strictObject({
    uploadId: z.string(),
    documentId: id,
    attachments: z.array(z.strictObject({ uploadId: z.string(), attachmentId: id })),
  })
  .meta({ id: 'CreatedDocument' });

const reasonInput = members({ reason: text });

export function documentRoutes(
  documents: PortalDocuments,
  requests: IdempotentRequests,
): readonly AnyRoute[] {
  return [
    portalRoute({
      method: 'POST',
      path: '/api/documents',
      summary: 'Makes documents of uploads, with the flow of those who sign and approve them.',
      headers: [REPEAT_HEADER],
      body: createDocumentsInput,
      responses: { 200: z.array(createdShape) },
      refusals: [
        ...UNKNOWN_FILES,
        'EnvelopeNameRequired',
        'FolderNotFound',
        'IdempotencyConflict',
        'InvalidFlowAction',
        'InvalidIdentifier',
      ],
      async handle({ tenant, body, given, header }) {
        const key = repeatKey(header(REPEAT_HEADER));
        const request = { route: 'POST /api/documents', key, fingerprint: key ? fingerprintOf(given) : '' };
        const made = await repeatable(requests, tenant, request, async (seed) =>
          (await documents.create(tenant, body, seed)).map(({ uploadId, documentId: made, attachments }) => ({
            uploadId,
            documentId: made,
            attachments: attachments.map((attachment) => ({
              uploadId: attachment.uploadId,
              attachmentId: attachment.attachmentId,
            })),
          })),
        );
        return json(200, made);
      },
    }),
    portalRoute({
      method: 'GET',
      path: '/api/documents/{id}',
      summary: 'Tells everything about a document.',
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
      summary: 'Deletes a document.',
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
      summary: 'Gives the addresses of the signing page for one participant.',
      params: idParams,
      body: members({
        identifier: maybeText,
        emailAddress: maybeText,
        requireEmailAuthentication: maybeFlag,
        flowActionId: maybeUuid,
      }),
      responses: { 200: z.strictObject({ url: z.url(), embedUrl: z.url() }) },
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
      summary: 'Cancels a document for good.',
      params: idParams,
      body: reasonInput,
      responses: { 200: 'empty' },
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
      summary: 'Refuses a document; a new version lets its flow begin again.',
      params: idParams,
      body: reasonInput,
      responses: { 200: 'empty' },
      refusals: [...UNKNOWN_DOCUMENT, 'InvalidDocumentStatus'],
      async handle({ tenant, params, body }) {
        await documents.refuse(tenant, documentId(params.id), body.reason);
        return DONE;
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/documents/{id}/retry',
      summary: 'Tries again at once what could not be signed or concluded.',
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
