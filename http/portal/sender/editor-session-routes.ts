/**
 * `/api/editor-sessions`: links to the document editor for other applications, and what a session of it may do.
 *
 * Source: docs/decisions/0119-editor-in-other-applications.md.
 */

import { z } from 'zod';
import {
  DRAFT_STATUSES,
  type EditorSessions,
  type EditorSessionView,
  type PortalUploads,
} from '../../../actors/portal/api.ts';
import { id, list, maybeUuid, members, text, textUpTo } from '../../../contracts/fields.ts';
import { CREATION, EXAMPLE_IDS, FILE } from '../../../contracts/portal/examples.ts';
import { newFile } from '../../../contracts/portal/flow.ts';
import { CREATION_REFUSALS, createdDocument, newDocuments } from '../../../contracts/portal/new-documents.ts';
import { UNKNOWN_FILES } from '../../../contracts/portal/refusals.ts';
import { isoTime } from '../../../contracts/times.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { json } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { draftedDocumentsInput } from '../input/flow-inputs.ts';
import { parsedInput } from '../input/invalid-input.ts';
import { readUploadForm } from '../input/upload-form.ts';
import { requireScope } from '../key-scopes.ts';
import { DONE, portalRoute } from '../route.ts';
import { draftInput, uploadIdsOf } from '../routes/drafts.ts';
import { storing, uploadBody, uploadForm, uploadShape } from '../routes/uploads.ts';
import { createdBody, timestamp } from '../shapes/shared-shapes.ts';

const PATH = '/api/editor-sessions';
const CURRENT = `${PATH}/current`;
const MAX_FILES = 50;

const returnUrl = textUpTo(2000).refine(isWebAddress, {
  error: 'must be an address that begins with https:// or http://',
});

const linkInput = members({
  draftId: maybeUuid.describe('The draft to edit. Absent: a new draft is made of `files`.'),
  files: list(newFile, { most: MAX_FILES }).nullish().describe('Uploads of a new draft.'),
  returnUrl: returnUrl
    .nullish()
    .describe('Page that the editor opens when its session ends; not used in a frame.'),
});

const linkShape = z
  .strictObject({
    draftId: id.describe('The draft that the session edits.'),
    url: z.url().describe('Page of the editor; it cannot be framed. The link can be used once.'),
    embedUrl: z.url().describe('The same page for a frame in your application.'),
    expirationDate: timestamp,
  })
  .meta({ id: 'EditorSessionLink' });

const sessionShape = z
  .strictObject({
    draftId: id.describe('The draft that the session edits.'),
    status: z.enum(DRAFT_STATUSES).describe('State of the draft.'),
    document: z.unknown().describe('The body of POST /api/documents, as it was last saved.'),
    locations: z
      .record(z.string(), z.string())
      .describe('Paths of the files of the draft, by id of the upload.'),
    documents: z.array(createdDocument).describe('The documents made of the draft; empty until it is sent.'),
    returnUrl: z
      .string()
      .nullable()
      .describe('Page that the editor opens when its session ends. Null: none.'),
    expirationDate: timestamp,
  })
  .meta({ id: 'EditorSession' });

const openedShape = sessionShape
  .extend({ token: z.string().describe('For the header `X-Editor-Session` of the session’s requests.') })
  .meta({ id: 'OpenedEditorSession' });

const NOT_KEPT = [
  'UploadNotFound',
  'LimitExceeded',
  'DocumentDraftNotFound',
  'InvalidDocumentStatus',
] as const;

export function editorSessionRoutes(sessions: EditorSessions, uploads: PortalUploads): readonly AnyRoute[] {
  return [
    portalRoute({
      method: 'POST',
      path: PATH,
      group: 'Editor',
      summary: 'Creates a link to the editor for a draft or for files.',
      description:
        'For applications whose users prepare documents in the editor of this service. The link can be used once, within 15 minutes. Its session can change and send this draft, and reaches nothing else of the organization. It ends with the key that created the link. With `draftId` a key needs the scope `Read` too. A draft that was made of `files` and that nobody has saved is deleted 24 hours later.',
      scope: 'Create',
      body: linkInput,
      examples: { request: { files: [FILE], returnUrl: 'https://app.example.com/contracts/17' } },
      responses: { 200: linkShape },
      refusals: NOT_KEPT,
      async handle({ tenant, body }) {
        const { draftId, files, returnUrl: back } = body;
        if (draftId ? files?.length : !files?.length) {
          const sentence = 'Exactly one of draftId and files is needed.';
          throw new PortalRefusal('BadRequest', sentence, { errors: { DraftId: [sentence] } });
        }
        // The session reads the draft, which a key with the scope Create alone must not.
        if (draftId) requireScope(tenant, { scope: 'Read' });
        const given = files ?? [];
        const made = await sessions.create(tenant, {
          draftId: draftId ?? undefined,
          draft: {
            name: given[0]?.displayName.slice(0, 200) ?? '',
            document: { files: given },
            uploadIds: given.map((file) => file.id),
          },
          returnUrl: back ?? null,
        });
        return json(200, {
          draftId: made.draftId,
          url: made.url,
          embedUrl: made.embedUrl,
          expirationDate: isoTime(made.expiresAt),
        });
      },
    }),
    portalRoute({
      method: 'POST',
      path: `${PATH}/open`,
      group: 'Editor',
      summary: 'Uses a link and starts its session.',
      description:
        'Sent by the page of the link. Needs no key: the ticket is the credential. An unknown, used or expired ticket is refused with `InvalidTicket`.',
      auth: 'anonymous',
      body: members({ ticket: text.describe('Ticket of the link.') }),
      examples: { request: { ticket: EXAMPLE_IDS.ticket } },
      responses: { 200: openedShape },
      refusals: ['InvalidTicket', 'DocumentDraftNotFound'],
      async handle({ body }) {
        const { token, view } = await sessions.open(body.ticket);
        return json(200, { ...sessionBody(view), token });
      },
    }),
    portalRoute({
      method: 'GET',
      path: CURRENT,
      group: 'Editor',
      summary: 'Returns the draft of the session.',
      description: 'Sent by the page of the editor, with the token of its session.',
      auth: 'editor',
      responses: { 200: sessionShape },
      refusals: ['DocumentDraftNotFound'],
      handle: async ({ tenant }) => json(200, sessionBody(await sessions.view(tenant))),
    }),
    portalRoute({
      method: 'PUT',
      path: CURRENT,
      group: 'Editor',
      summary: 'Saves the draft of the session.',
      description:
        'Sent by the page of the editor, with the token of its session. Replaces the members that the editor shows; the others stay. The request may be incomplete; it is checked when it is sent. `UploadNotFound`: a file belongs neither to the draft nor to the session.',
      auth: 'editor',
      body: draftInput,
      largeBody: 'draft',
      examples: { request: { name: 'Lease', document: CREATION } },
      responses: { 200: 'empty' },
      refusals: NOT_KEPT,
      async handle({ tenant, body: { name, document } }) {
        await sessions.save(tenant, { name, document }, (whole) =>
          uploadIdsOf(parsedInput(draftedDocumentsInput, whole, 'BadRequest')),
        );
        return DONE;
      },
    }),
    portalRoute({
      method: 'POST',
      path: `${CURRENT}/uploads`,
      group: 'Editor',
      summary: 'Stores a file for the draft of the session.',
      description:
        'Sent by the page of the editor, with the token of its session. The body is a form, as for `POST /api/uploads`. A session has at most 100 uploads (`LimitExceeded`).',
      auth: 'editor',
      bodyPolicy: 'stream',
      headers: ['content-type', 'content-length'],
      body: uploadForm,
      responses: { 200: uploadShape },
      refusals: ['BadRequest', 'LimitExceeded', 'PayloadTooLarge', 'UnsupportedMediaType'],
      async handle({ tenant, header, stream }) {
        if (stream === undefined) throw new Error('The route reads its body as a stream.');
        const head = { contentType: header('content-type'), contentLength: header('content-length') };
        await sessions.checkUpload(tenant);
        const { sink, name, contentType } = await readUploadForm(stream, {
          ...head,
          maxBytes: uploads.maxBytes,
          open: () => uploads.open(),
          watch: undefined,
        });
        const upload = await storing(sink, () => uploads.accept(tenant, sink, { name, contentType }));
        await sessions.uploaded(tenant, upload.id);
        return json(200, uploadBody(upload));
      },
    }),
    portalRoute({
      method: 'POST',
      path: `${CURRENT}/send`,
      group: 'Editor',
      summary:
        'Creates the documents of the draft of the session; a repeated call returns the same documents.',
      description:
        'Sent by the page of the editor, with the token of its session. Checks, refusals, e-mails and events are those of `POST /api/documents`; a refused draft is kept. Afterwards the token only repeats this call.',
      auth: 'editor',
      responses: { 200: z.array(createdDocument) },
      refusals: ['DocumentDraftNotFound', 'InvalidDocumentStatus', ...UNKNOWN_FILES, ...CREATION_REFUSALS],
      async handle({ tenant }) {
        const sent = await sessions.send(tenant, (document) =>
          parsedInput(newDocuments, document, 'BadRequest'),
        );
        return json(200, sent.map(createdBody));
      },
    }),
    portalRoute({
      method: 'DELETE',
      path: CURRENT,
      group: 'Editor',
      summary: 'Ends the session; the draft is kept.',
      description:
        'Sent by the page of the editor, with the token of its session. The token is not valid afterwards.',
      auth: 'editor',
      responses: { 200: 'empty' },
      refusals: [],
      async handle({ tenant }) {
        await sessions.close(tenant);
        return DONE;
      },
    }),
  ];
}

function sessionBody(view: EditorSessionView): z.infer<typeof sessionShape> {
  return {
    draftId: view.draftId,
    status: view.status,
    document: view.document,
    locations: { ...view.locations },
    documents: view.documents.map(createdBody),
    returnUrl: view.returnUrl,
    expirationDate: isoTime(view.expiresAt),
  };
}

function isWebAddress(given: string): boolean {
  return URL.canParse(given) && /^https?:$/.test(new URL(given).protocol);
}
