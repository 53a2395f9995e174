/** `/api/document-drafts`: documents that are sent later. Source: docs/decisions/0122-drafts.md. */

import { z } from 'zod';
import {
  type DocumentDrafts,
  DRAFT_STATUSES,
  type DraftBody,
  type DraftItem,
  type DraftView,
  type IdempotentRequests,
} from '../../../actors/portal/api.ts';
import { id, members, text, withSent } from '../../../contracts/fields.ts';
import { createdBy } from '../../../contracts/portal/entities.ts';
import { CREATION } from '../../../contracts/portal/examples.ts';
import { CREATION_REFUSALS, createdDocument, newDocuments } from '../../../contracts/portal/new-documents.ts';
import { UNKNOWN_FILES } from '../../../contracts/portal/refusals.ts';
import { isoTime } from '../../../contracts/times.ts';
import { json } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { draftedDocumentsInput } from '../input/flow-inputs.ts';
import { idParams } from '../input/ids.ts';
import { parsedInput } from '../input/invalid-input.ts';
import { portalRoute } from '../route.ts';
import { createdBody, createdByBody, timestamp } from '../shapes/shared-shapes.ts';
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
    createdBy: createdBy,
  })
  .meta({ id: 'DocumentDraftItem' });

const draftShape = itemShape
  .extend({
    document: z.unknown().describe('The body of POST /api/documents, as it was sent.'),
    documents: z.array(createdDocument).describe('The documents made of it; empty until it is sent.'),
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

export function draftRoutes(drafts: DocumentDrafts, requests: IdempotentRequests): readonly AnyRoute[] {
  return [
    ...recordRoutes({
      path: '/api/document-drafts',
      group: 'Drafts',
      texts: {
        list: {
          summary: 'Lists drafts that are not sent.',
          description: '`q` searches in names. A sent draft is found by its id only.',
        },
        create: {
          summary: 'Creates a draft: a request for documents, which may be incomplete, with its files.',
          description:
            '`document` is the body of `POST /api/documents`, complete or not; it is checked when the draft is sent. Its uploads are kept until the draft is sent or deleted. An organization has at most 1,000 drafts that are not sent (`LimitExceeded`). The same `Idempotency-Key` with the same request returns the same draft.',
          examples: { request: { name: 'Lease', document: CREATION } },
        },
        get: {
          summary: 'Returns a draft with its request.',
          description: 'A sent draft is kept for 30 days, and names its documents.',
        },
        replace: {
          summary: 'Replaces the name and the request of a draft.',
          description: '`InvalidDocumentStatus`: the draft is being sent, or was sent.',
          examples: { request: { name: 'Lease of flat 3', document: CREATION } },
        },
        remove: {
          summary: 'Deletes a draft.',
          description:
            'Its uploads are no longer kept. `InvalidDocumentStatus`: the draft is being sent, or was sent.',
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
      requests,
      records: {
        list: (tenant, query) => drafts.list(tenant, query),
        create: (tenant, body, seed) => drafts.create(tenant, body, { seed }),
        get: (tenant, draft) => drafts.get(tenant, draft),
        replace: (tenant, draft, body) => drafts.replace(tenant, draft, body),
        remove: (tenant, draft) => drafts.remove(tenant, draft),
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/document-drafts/{id}/send',
      group: 'Drafts',
      summary: 'Creates the documents of a draft; a repeated call returns the same documents.',
      description:
        'Checks, refusals, e-mails and events are those of `POST /api/documents`; a refused draft can be changed and sent again. Repeat a call that was interrupted: it creates only the missing documents. The call returns them for 30 days.',
      scope: 'Create',
      params: idParams,
      responses: { 200: z.array(createdDocument) },
      refusals: ['DocumentDraftNotFound', 'InvalidDocumentStatus', ...UNKNOWN_FILES, ...CREATION_REFUSALS],
      async handle({ tenant, params }) {
        const sent = await drafts.send(tenant, params.id.toLowerCase(), (document) =>
          parsedInput(newDocuments, document, 'BadRequest'),
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
