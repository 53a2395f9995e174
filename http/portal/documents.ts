/**
 * `/api/documents`: creation, detail, list, and what the application does with a document.
 *
 * Source: Document Signing Portal API, "Endpoints"; portal-gaps §§5, 7, 9 and 12 to 16.
 */
import { z } from 'zod';
import type {
  DocumentQuery,
  IdempotentRequests,
  PortalDocuments,
  PortalFolders,
  Tenant,
} from '../../actors/portal/api.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import { json } from '../reply.ts';
import type { AnyRoute } from '../router.ts';
import { list, maybeFlag, maybeText, maybeUuid, members, text, uuid } from './fields.ts';
import { documentId, flowActionId, idParams } from './ids.ts';
import { createDocumentsInput, flowEditInput, newEnvelopeVersionInput, newVersionInput } from './inputs.ts';
import { paging, queryFlag, queryText, queryWord } from './query-fields.ts';
import { fingerprintOf, REPEAT_HEADER, repeatable, repeatKey } from './repeatable.ts';
import { DONE, portalRoute } from './route.ts';
import { documentBody, documentShape, listItemBody, listItemShape } from './shapes/documents.ts';
import { id, pageBody, pageShape, participantShape } from './shapes/parts.ts';
import { DOCUMENT_TYPES, LIST_STATUSES, PARTICIPANT_QUERY_TYPES, QUERY_TYPES } from './words.ts';

/** Of every call that names a document. */
export const UNKNOWN_DOCUMENT = ['DocumentNotFound', 'DocumentIsDeleted'] as const;
/** Of every call whose request may name a document, a folder or files that cannot be had. */
const UNKNOWN_FILES = [
  'UploadNotFound',
  'DocumentUnreadable',
  'EnvelopeRequiresPdf',
  'LimitExceeded',
] as const;

/** Documents moved by one call. */
const MOVED_AT_ONCE = 1000;
/** Tags of a list's filter; more are left out. Source: portal-gaps §12. */
const TAGS_USED = 10;

const createdShape = z
  .strictObject({
    uploadId: z.string(),
    documentId: id,
    attachments: z.array(z.strictObject({ uploadId: z.string(), attachmentId: id })),
  })
  .meta({ id: 'CreatedDocument' });

const listQuery = members({
  status: queryWord(LIST_STATUSES),
  isConcluded: queryFlag,
  folderId: uuid.optional(),
  folderType: queryWord(['Normal', 'WithoutFolder']),
  q: queryText,
  queryType: queryWord(QUERY_TYPES),
  participantQ: queryText,
  participantQueryType: queryWord(PARTICIPANT_QUERY_TYPES),
  filterByPendingSignature: queryFlag,
  filterByDocumentType: queryFlag,
  documentType: queryWord(DOCUMENT_TYPES),
  tags: queryText,
  isDeleted: queryFlag,
  ...paging,
});

const reasonInput = members({ reason: text });
const destination = { folderId: maybeUuid, newFolderName: maybeText };

const movedShape = z.strictObject({ id, success: z.boolean(), errorMessage: z.string().nullable() });

const rectifiedShape = z.strictObject({
  rectifiedParticipants: z.array(
    z.strictObject({ userId: id, requested: participantShape, rectified: participantShape }),
  ),
});

export interface DocumentRouteParts {
  readonly documents: PortalDocuments;
  readonly folders: PortalFolders;
  readonly requests: IdempotentRequests;
}

export function documentRoutes({ documents, folders, requests }: DocumentRouteParts): readonly AnyRoute[] {
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
      path: '/api/documents',
      summary: 'Lists documents of the organization.',
      query: listQuery,
      responses: { 200: pageShape(listItemShape) },
      refusals: [],
      async handle({ tenant, query }) {
        return json(200, pageBody(await documents.list(tenant, documentQuery(query)), listItemBody));
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
      path: '/api/documents/{id}/versions',
      summary: 'Puts a new file in the place of the document’s, and begins its flow again.',
      params: idParams,
      body: newVersionInput,
      responses: { 200: 'empty' },
      refusals: [
        ...UNKNOWN_DOCUMENT,
        ...UNKNOWN_FILES,
        'FlowActionNotFound',
        'InvalidFlowAction',
        'InvalidDocumentStatus',
      ],
      async handle({ tenant, params, body }) {
        const { file, additionalInfo: _, ...rest } = body;
        await documents.newVersion(tenant, documentId(params.id), { ...rest, files: [file] });
        return DONE;
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/documents/{id}/envelope/versions',
      summary: 'Puts new files in the place of the envelope’s, and begins its flow again.',
      params: idParams,
      body: newEnvelopeVersionInput,
      responses: { 200: 'empty' },
      refusals: [
        ...UNKNOWN_DOCUMENT,
        ...UNKNOWN_FILES,
        'FlowActionNotFound',
        'InvalidFlowAction',
        'InvalidDocumentStatus',
      ],
      async handle({ tenant, params, body }) {
        const { additionalInfo: _, ...version } = body;
        await documents.newEnvelopeVersion(tenant, documentId(params.id), version);
        return DONE;
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/documents/{id}/flow',
      summary: 'Changes the flow of a document while it runs.',
      params: idParams,
      body: flowEditInput,
      responses: { 200: rectifiedShape },
      refusals: [
        ...UNKNOWN_DOCUMENT,
        'FlowActionNotFound',
        'InvalidFlowAction',
        'InvalidIdentifier',
        'InvalidDocumentStatus',
        'LimitExceeded',
      ],
      async handle({ tenant, params, body }) {
        await documents.editFlow(tenant, documentId(params.id), body);
        return json(200, { rectifiedParticipants: [] });
      },
    }),
    portalRoute({
      method: 'PUT',
      path: '/api/documents/{id}/notified-emails',
      summary: 'Says who is mailed when the document is concluded.',
      params: idParams,
      body: members({ emails: list(text) }),
      responses: { 200: 'empty' },
      refusals: [...UNKNOWN_DOCUMENT, 'LimitExceeded', 'InvalidDocumentStatus'],
      async handle({ tenant, params, body }) {
        await documents.setNotifiedEmails(tenant, documentId(params.id), body.emails);
        return DONE;
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/documents/{id}/folder',
      summary: 'Moves a document into a folder, a new one, or out of any.',
      params: idParams,
      body: members(destination),
      responses: { 200: 'empty' },
      refusals: [...UNKNOWN_DOCUMENT, 'FolderNotFound'],
      async handle({ tenant, params, body }) {
        await documents.move(tenant, documentId(params.id), {
          folderId: body.folderId ?? null,
          newFolderName: body.newFolderName ?? null,
        });
        return DONE;
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/documents/batch/folder',
      summary: 'Moves many documents, and says of each whether it was moved.',
      body: members({ documents: list(uuid), ...destination }),
      responses: { 200: z.array(movedShape) },
      refusals: ['FolderNotFound', 'LimitExceeded'],
      async handle({ tenant, body }) {
        if (body.documents.length > MOVED_AT_ONCE) {
          throw new PortalRefusal('LimitExceeded', `At most ${MOVED_AT_ONCE} documents are moved at once.`);
        }
        const folderId = await folderOf(folders, tenant, body);
        const moved: z.infer<typeof movedShape>[] = [];
        for (const document of body.documents) {
          const errorMessage = await whyNot(() =>
            documents.move(tenant, documentId(document), { folderId, newFolderName: null }),
          );
          moved.push({ id: document, success: errorMessage === null, errorMessage });
        }
        return json(200, moved);
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

function documentQuery(given: z.infer<typeof listQuery>): DocumentQuery {
  const { isConcluded, status, tags } = given;
  const byOldFlag = isConcluded === undefined ? undefined : isConcluded ? 'Concluded' : 'Pending';
  return {
    status: status ?? byOldFlag,
    folderId: given.folderId,
    withoutFolder: given.folderType === 'WithoutFolder' ? true : undefined,
    q: given.q,
    queryType: given.queryType,
    participantQ: given.participantQ,
    participantQueryType: given.participantQueryType,
    pendingSignature: given.filterByPendingSignature,
    filterByDocumentType: given.filterByDocumentType,
    documentType: given.documentType,
    tags: tags === undefined ? undefined : readTags(tags),
    deleted: given.isDeleted,
    limit: given.limit,
    offset: given.offset,
    newestFirst: given.order === 'Desc',
  };
}

/** `label|value,value` → the tags. */
function readTags(text: string): { readonly label: string | null; readonly value: string }[] {
  const given = text.split(',').filter((tag) => tag.trim() !== '');
  return given.slice(0, TAGS_USED).map((tag) => {
    const bar = tag.indexOf('|');
    return bar < 0
      ? { label: null, value: tag.trim() }
      : { label: tag.slice(0, bar).trim(), value: tag.slice(bar + 1).trim() };
  });
}

/** Where many documents are moved to: a new folder is made once for all of them. */
async function folderOf(
  folders: PortalFolders,
  tenant: Tenant,
  given: {
    readonly folderId?: string | null | undefined;
    readonly newFolderName?: string | null | undefined;
  },
): Promise<string | null> {
  if (typeof given.folderId === 'string') return given.folderId;
  if (typeof given.newFolderName !== 'string') return null;
  return (await folders.create(tenant, given.newFolderName, null)).id;
}

/** The message of a refusal; null when it was done. */
async function whyNot(work: () => Promise<void>): Promise<string | null> {
  try {
    await work();
    return null;
  } catch (thrown) {
    const { name, message } = thrown as Error;
    if (name !== 'PortalRefusal') throw thrown;
    return message;
  }
}
