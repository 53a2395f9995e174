/** Drafts: requests for documents that are kept, changed and sent later. Source: docs/decisions/0122-drafts.md. */

import { z } from 'zod';
import { entity, members, shown, withSent } from '../../fields.ts';
import type { Value } from '../../operation.ts';
import { recordName, recordNames, savedRequest } from '../entities.ts';
import { CREATION } from '../examples.ts';
import { idIn } from '../ids.ts';
import { CREATION_REFUSALS, createdDocument, draftedDocuments } from '../new-documents.ts';
import { operation } from '../operation.ts';
import { UNKNOWN_FILES } from '../refusals.ts';
import { recordOperations, recordTimes } from './records.ts';

export const DRAFT_STATUSES = ['Saved', 'Sending', 'Sent'] as const;

const draftItem = entity('DocumentDraftItem', {
  ...recordNames,
  status: z
    .enum(DRAFT_STATUSES)
    .describe('Sending: the call that sends it has not ended or was cut off; send it again.'),
  ...recordTimes,
});

const draft = draftItem
  .extend({
    document: savedRequest,
    documents: z.array(createdDocument).describe('The documents made of it; empty until it is sent.'),
  })
  .meta({ id: 'DocumentDraft' });

export const newDraft = members({
  name: recordName,
  document: shown(
    withSent(draftedDocuments),
    'A body of `POST /api/documents`. It may lack files and flow actions until the draft is sent.',
    CREATION,
  ),
}).meta({
  id: 'NewDocumentDraft',
});

const params = z.object({ id: idIn('Id of the draft.') });

export const drafts = recordOperations({
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
  params,
  body: newDraft,
  item: draftItem,
  view: draft,
  notFound: 'DocumentDraftNotFound',
  notSaved: ['UploadNotFound', 'LimitExceeded'],
  fixed: ['InvalidDocumentStatus'],
});

/** Refusals of a call that sends a draft. */
export const SENDING_REFUSALS = [
  'DocumentDraftNotFound',
  'InvalidDocumentStatus',
  ...UNKNOWN_FILES,
  ...CREATION_REFUSALS,
] as const;

export const sendDraft = operation('POST /api/document-drafts/{id}/send', {
  group: 'Drafts',
  summary: 'Creates the documents of a draft; a repeated call returns the same documents.',
  description:
    'Checks, refusals, e-mails and events are those of `POST /api/documents`; a refused draft can be changed and sent again. Repeat a call that was interrupted: it creates only the missing documents. The call returns them for 30 days.',
  scope: 'Create',
  params,
  reply: z.array(createdDocument),
  refusals: SENDING_REFUSALS,
});

export type DraftItem = Value<typeof draftItem>;
export type DraftView = Value<typeof draft>;
export type NewDraft = Value<typeof newDraft>;
