/** `/api/document-drafts`: documents that are sent later. Source: docs/decisions/0122-drafts.md. */
import { z } from 'zod';
import {
  type DocumentDrafts,
  DRAFT_STATUSES,
  type DraftBody,
  type DraftItem,
  type DraftView,
} from '../../../actors/portal/api.ts';
import { json } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { CREATION } from '../description/example-values.ts';
import { members, text, withSent } from '../input/fields.ts';
import { createDocumentsInput, draftedDocumentsInput } from '../input/flow-inputs.ts';
import { idParams } from '../input/ids.ts';
import { parsedInput } from '../input/invalid-input.ts';
import { isoTime } from '../input/timestamps.ts';
import { UNKNOWN_FILES } from '../refusal-groups.ts';
import { portalRoute } from '../route.ts';
import { createdByBody, createdByShape, id, timestamp } from '../shapes/shared-shapes.ts';
import { CREATION_REFUSALS, createdBody, createdShape } from './documents.ts';
import { noQuery, recordListQuery, recordRoutes } from './record-routes.ts';

const itemShape = z
  .strictObject({
    id,
    name: z.string(),
    status: z
      .enum(DRAFT_STATUSES)
      .describe('Sending: the call that sends it has not ended or was cut off; send it again.'),
    creationDate: timestamp,
    updateDate: timestamp,
    createdBy: createdByShape,
  })
  .meta({ id: 'DocumentDraftItem' });

const draftShape = itemShape
  .extend({
    document: z.unknown().describe('The body of POST /api/documents, as it was sent.'),
    documents: z.array(createdShape).describe('The documents made of it; empty until it is sent.'),
  })
  .meta({ id: 'DocumentDraft' });

export const draftInput = members({ name: text, document: withSent(draftedDocumentsInput) }).transform(
  ({ name, document: { read, sent } }): DraftBody => ({
    name,
    document: sent,
    uploadIds: uploadIdsOf(read),
  }),
);

/** Ids of the files and attachments of a request. */
export function uploadIdsOf({
  files,
  attachments,
}: z.infer<typeof draftedDocumentsInput>): readonly string[] {
  return [...(files ?? []), ...(attachments ?? [])].map((file) => file.id);
}

const NOT_SAVED = ['UploadNotFound', 'LimitExceeded'] as const;

export function draftRoutes(drafts: DocumentDrafts): readonly AnyRoute[] {
  return [
    ...recordRoutes({
      path: '/api/document-drafts',
      group: 'Drafts',
      texts: {
        list: {
          summary: 'Lists drafts that are not sent.',
          description: '`q` searches in names. Sent drafts are not listed.',
        },
        create: {
          summary: 'Keeps a request for documents, which may be incomplete, and its files.',
          description:
            '`document` is the body of `POST /api/documents`, complete or not; it is checked when the draft is sent. Its uploads are kept as long as the draft. At most 1,000 drafts (`LimitExceeded`).',
          examples: { request: { name: 'Lease', document: CREATION } },
        },
        get: {
          summary: 'Gives a draft with its request as it was sent.',
          description: 'For 30 days after it was sent, with its documents.',
        },
        replace: {
          summary: 'Replaces the name and the request of a draft.',
          description: '`InvalidDocumentStatus` while it is being sent and afterwards.',
          examples: { request: { name: 'Lease of flat 3', document: CREATION } },
        },
        remove: {
          summary: 'Removes a draft.',
          description:
            'Its uploads are kept no longer for it. `InvalidDocumentStatus` while it is being sent and afterwards; documents made of it stay.',
        },
      },
      body: draftInput,
      largeBody: 'draft',
      notFound: 'DocumentDraftNotFound',
      notSaved: NOT_SAVED,
      fixed: ['InvalidDocumentStatus'],
      item: { shape: itemShape, body: itemBody },
      view: {
        shape: draftShape,
        body: ({ document, documents, ...item }: DraftView) => ({
          ...itemBody(item),
          document,
          documents: documents.map(createdBody),
        }),
      },
      listQuery: recordListQuery,
      getQuery: noQuery,
      notRead: [],
      records: drafts,
    }),
    portalRoute({
      method: 'POST',
      path: '/api/document-drafts/{id}/send',
      group: 'Drafts',
      summary:
        'Makes the documents of a draft and asks their participants; a repeated call answers the same.',
      description:
        'The same checks as `POST /api/documents`, with the same refusals; a refused draft can be changed and sent again. A call that was cut off is repeated and makes only what is missing. The sent draft answers for 30 days with its documents.',
      scope: 'Create',
      params: idParams,
      responses: { 200: z.array(createdShape) },
      refusals: ['DocumentDraftNotFound', 'InvalidDocumentStatus', ...UNKNOWN_FILES, ...CREATION_REFUSALS],
      async handle({ tenant, params }) {
        const sent = await drafts.send(tenant, params.id.toLowerCase(), (document) =>
          parsedInput(createDocumentsInput, document, 'BadRequest'),
        );
        return json(200, sent.map(createdBody));
      },
    }),
  ];
}

function itemBody(item: DraftItem): z.infer<typeof itemShape> {
  return {
    id: item.id,
    name: item.name,
    status: item.status,
    creationDate: isoTime(item.creationDate),
    updateDate: isoTime(item.updateDate),
    createdBy: createdByBody(item.createdBy),
  };
}
