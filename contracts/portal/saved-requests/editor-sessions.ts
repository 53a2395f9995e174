/**
 * Links to the document editor for other applications, and what a session of it may do.
 *
 * Source: docs/decisions/0119-editor-in-other-applications.md.
 */

import { z } from 'zod';
import {
  anyObject,
  entity,
  id,
  list,
  maybeUuid,
  members,
  shown,
  text,
  textUpTo,
  time,
} from '../../fields.ts';
import type { Value } from '../../operation.ts';
import { CREATION, EXAMPLE_IDS, EXAMPLE_KEY, FILE } from '../examples.ts';
import { newFile } from '../flow.ts';
import { createdDocument } from '../new-documents.ts';
import { operationsOf } from '../operation.ts';
import { upload, uploadForm } from '../uploads.ts';
import { DRAFT_STATUSES, newDraft, SENDING_REFUSALS } from './drafts.ts';

const MAX_FILES = 50;
const PREVIEW = `/api/uploads/${EXAMPLE_IDS.upload}/preview?ticket=${EXAMPLE_IDS.ticket}`;

const newEditorSession = members({
  draftId: maybeUuid.describe('The draft to edit. Absent: a new draft is made of `files`.'),
  files: list(newFile, { most: MAX_FILES }).nullish().describe('Uploads of a new draft.'),
  returnUrl: shown(
    textUpTo(2000)
      .refine((given) => URL.canParse(given) && /^https?:$/.test(new URL(given).protocol), {
        error: 'must be an address that begins with https:// or http://',
      })
      .nullish(),
    'Page that the editor opens when its session ends; not used in a frame.',
    'https://app.example.com/contracts',
  ),
}).meta({ id: 'NewEditorSession' });

const link = entity('EditorSessionLink', {
  draftId: id.describe('The draft that the session edits.'),
  url: shown(
    z.url(),
    'Page of the editor; it cannot be framed. The link can be used once.',
    'https://hooks.example.com/portal',
  ),
  embedUrl: shown(
    z.url(),
    'The same page for a frame in your application.',
    `https://sign.example.com/document/key/${EXAMPLE_KEY}/sign-embedded?ticket=0f8c1d2e`,
  ),
  expirationDate: time.describe('End of the time in which the link can be used.'),
});

const session = entity('EditorSession', {
  draftId: id.describe('The draft that the session edits.'),
  status: z.enum(DRAFT_STATUSES).describe('State of the draft.'),
  document: shown(anyObject, 'The body of POST /api/documents, as it was last saved.', CREATION),
  locations: shown(
    z.record(z.string(), z.string()),
    'Paths of the files of the draft, by id of the upload.',
    { [EXAMPLE_IDS.upload]: PREVIEW },
  ),
  documents: z.array(createdDocument).describe('The documents made of the draft; empty until it is sent.'),
  returnUrl: shown(
    z.string().nullable(),
    'Page that the editor opens when its session ends. Null: none.',
    'https://app.example.com/contracts',
  ),
  expirationDate: time.describe('End of the session.'),
});

const NOT_KEPT = [
  'UploadNotFound',
  'LimitExceeded',
  'DocumentDraftNotFound',
  'InvalidDocumentStatus',
] as const;

const operation = operationsOf({ group: 'Editor' });

export const createEditorSession = operation('POST /api/editor-sessions', {
  summary: 'Creates a link to the editor for a draft or for files.',
  description:
    'For applications whose users prepare documents in the editor of this service. The link can be used once, within 15 minutes. Its session can change and send this draft, and reaches nothing else of the organization. It ends with the key that created the link. With `draftId` a key needs the scope `Read` too. A draft that was made of `files` and that nobody has saved is deleted 24 hours later.',
  scope: 'Create',
  body: newEditorSession,
  reply: link,
  examples: { request: { files: [FILE], returnUrl: 'https://app.example.com/contracts/17' } },
  refusals: NOT_KEPT,
});

export const openEditorSession = operation('POST /api/editor-sessions/open', {
  summary: 'Uses a link and starts its session.',
  description:
    'Sent by the page of the link. Needs no key: the ticket is the credential. An unknown, used or expired ticket is refused with `InvalidTicket`.',
  auth: 'anonymous',
  body: members({
    ticket: shown(text, 'Ticket of the link.', EXAMPLE_IDS.ticket),
  }).meta({ id: 'EditorSessionOpening' }),
  reply: session
    .extend({
      token: shown(
        z.string(),
        'For the header `X-Editor-Session` of the session’s requests.',
        'c2lnbmluZy10b2tlbg',
      ),
    })
    .meta({ id: 'OpenedEditorSession' }),
  examples: { request: { ticket: EXAMPLE_IDS.ticket } },
  refusals: ['InvalidTicket', 'DocumentDraftNotFound'],
});

export const getEditorSession = operation('GET /api/editor-sessions/current', {
  summary: 'Returns the draft of the session.',
  description: 'Sent by the page of the editor, with the token of its session.',
  auth: 'editor',
  reply: session,
  refusals: ['DocumentDraftNotFound'],
});

export const saveEditorSession = operation('PUT /api/editor-sessions/current', {
  summary: 'Saves the draft of the session.',
  description:
    'Sent by the page of the editor, with the token of its session. Replaces the members that the editor shows; the others stay. The request may be incomplete; it is checked when it is sent. `UploadNotFound`: a file belongs neither to the draft nor to the session.',
  auth: 'editor',
  body: newDraft,
  largeBody: true,
  reply: 'empty',
  examples: { request: { name: 'Lease', document: CREATION } },
  refusals: NOT_KEPT,
});

export const uploadInEditorSession = operation('POST /api/editor-sessions/current/uploads', {
  summary: 'Stores a file for the draft of the session.',
  description:
    'Sent by the page of the editor, with the token of its session. The body is a form, as for `POST /api/uploads`. A session has at most 100 uploads (`LimitExceeded`).',
  auth: 'editor',
  bodyPolicy: 'stream',
  headers: ['content-type', 'content-length'],
  body: uploadForm,
  reply: upload,
  refusals: ['BadRequest', 'LimitExceeded', 'PayloadTooLarge', 'UnsupportedMediaType'],
});

export const sendEditorSession = operation('POST /api/editor-sessions/current/send', {
  summary: 'Creates the documents of the draft of the session; a repeated call returns the same documents.',
  description:
    'Sent by the page of the editor, with the token of its session. Checks, refusals, e-mails and events are those of `POST /api/documents`; a refused draft is kept. Afterwards the token only repeats this call.',
  auth: 'editor',
  reply: z.array(createdDocument),
  refusals: SENDING_REFUSALS,
});

export const closeEditorSession = operation('DELETE /api/editor-sessions/current', {
  summary: 'Ends the session; the draft is kept.',
  description:
    'Sent by the page of the editor, with the token of its session. The token is not valid afterwards.',
  auth: 'editor',
  reply: 'empty',
});

export type NewEditorSession = Value<typeof newEditorSession>;
export type EditorSessionLink = Value<typeof link>;
export type EditorSessionView = Value<typeof session>;
