/**
 * `/api/marks-sessions`: sessions of one hour in which a person places marks on files before a document is created.
 *
 * Source: docs/portal-values.md §20.
 */

import { z } from 'zod';
import type { MarksSessions } from '../../../actors/portal/api.ts';
import {
  id,
  list,
  maybeFlag,
  maybeText,
  maybeUuid,
  members,
  whole,
  withSent,
  word,
} from '../../../contracts/fields.ts';
import { ANA, EXAMPLE_IDS, FILE, SIGNER } from '../../../contracts/portal/examples.ts';
import { newMark, newParticipant } from '../../../contracts/portal/flow.ts';
import { newDocuments } from '../../../contracts/portal/new-documents.ts';
import { INITIALS_MODES, SIGNATURE_TYPES } from '../../../contracts/portal/words.ts';
import { json } from '../../core/reply.ts';
import type { AnyRoute } from '../../core/router.ts';
import { fileReference } from '../input/flow-inputs.ts';
import { idParams } from '../input/ids.ts';
import { portalRoute } from '../route.ts';

const sessionInput = members({
  files: list(fileReference, { least: 1 }),
  isEnvelope: maybeFlag,
  flowActions: list(
    members({
      id: maybeUuid,
      type: word(['Signer', 'Approver', 'SignRule', 'ApproverRule']).nullish(),
      user: newParticipant.nullish(),
      signatureInitialsMode: word(INITIALS_MODES).nullish(),
      ruleName: maybeText,
      numberRequiredSignatures: whole.nullish(),
      prePositionedMarks: list(newMark).nullish(),
    }),
  ),
  signatureType: word(SIGNATURE_TYPES).nullish(),
});

export const marksInput = withSent(sessionInput);
export const marksOfDocumentsInput = withSent(newDocuments);

const createdDocument = z.strictObject({ id, embedUrl: z.url() });

const sessionShape = z
  .strictObject({
    id,
    files: z.array(z.strictObject({ id: z.string(), location: z.string() })),
    data: z.unknown().describe('The request as it was sent.'),
  })
  .meta({ id: 'MarksSession' });

const MARK = {
  type: 'SignatureVisualRepresentation',
  pageNumber: 1,
  topLeftX: 72,
  topLeftY: 600,
  width: 180,
  height: 60,
};

export function marksSessionRoutes(sessions: MarksSessions): readonly AnyRoute[] {
  return [
    portalRoute({
      method: 'POST',
      path: '/api/marks-sessions',
      group: 'Marks',
      summary: 'Creates a session in which a person places marks on uploads.',
      description:
        'For applications whose users place marks before the documents exist. `embedUrl` is a page for a frame, which posts `marksPositioned` to its parent. No document is created. The session lasts 60 minutes.',
      scope: 'Create',
      body: marksInput,
      largeBody: 'marks',
      responses: { 200: createdDocument },
      examples: {
        request: {
          files: [{ id: EXAMPLE_IDS.upload, name: 'contract.pdf', contentType: 'application/pdf' }],
          flowActions: [{ type: 'Signer', user: ANA }],
        },
      },
      refusals: ['UploadNotFound', 'LimitExceeded'],
      async handle({ tenant, body: { read, sent } }) {
        const made = await sessions.create(tenant, read.files, sent);
        return json(200, { id: made.id, embedUrl: made.embedUrl });
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/marks-sessions/documents',
      group: 'Marks',
      summary: 'Creates a session in which a person places marks on the files of a creation request.',
      description:
        'As `POST /api/marks-sessions`, with a whole creation request. No document is created: send the request that `marksPositioned` contains to `POST /api/documents`. The session lasts 60 minutes.',
      scope: 'Create',
      body: marksOfDocumentsInput,
      largeBody: 'marks-of-documents',
      responses: { 200: createdDocument },
      examples: { request: { files: [FILE], flowActions: [{ ...SIGNER, prePositionedMarks: [MARK] }] } },
      refusals: ['UploadNotFound', 'LimitExceeded'],
      async handle({ tenant, body: { read, sent } }) {
        const files = read.files.map(({ id: upload, name, contentType }) => ({
          id: upload,
          name,
          contentType,
        }));
        const made = await sessions.create(tenant, files, sent);
        return json(200, { id: made.id, embedUrl: made.embedUrl });
      },
    }),
    // One client uses the second spelling.
    ...['/api/marks-sessions/{id}', '/api/marks-session/{id}'].map((path) =>
      portalRoute({
        method: 'GET',
        path,
        group: 'Marks',
        summary: 'Returns a marks session.',
        description:
          'Sent by the page of the session. Needs no key: the id is the credential. The files have paths with tickets. `MarksSessionNotFound`: the id is unknown, or the 60 minutes have passed.',
        auth: 'anonymous',
        params: idParams,
        responses: { 200: sessionShape },
        refusals: ['MarksSessionNotFound'],
        async handle({ params }) {
          const session = await sessions.get(params.id.toLowerCase());
          return json(200, {
            id: session.id,
            files: session.files.map(({ id: file, location }) => ({ id: file, location })),
            data: session.data,
          });
        },
      }),
    ),
  ];
}
