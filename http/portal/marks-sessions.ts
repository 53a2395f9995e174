/**
 * `/api/marks-sessions`: an hour in which somebody places marks on files that are not documents yet.
 *
 * Source: portal-gaps §20, "Marks session".
 */
import { z } from 'zod';
import type { MarksSessions } from '../../actors/portal/api.ts';
import { json } from '../reply.ts';
import type { AnyRoute } from '../router.ts';
import { list, maybeFlag, maybeText, maybeUuid, members, whole, word } from './fields.ts';
import { idParams } from './ids.ts';
import { createDocumentsInput, fileReference, markInput, participantInput } from './inputs.ts';
import { portalRoute } from './route.ts';
import { id } from './shapes/parts.ts';
import { INITIALS_MODES, SIGNATURE_TYPES } from './words.ts';

const sessionInput = members({
  files: list(fileReference).min(1, { error: 'must have at least one item' }),
  isEnvelope: maybeFlag,
  flowActions: list(
    members({
      id: maybeUuid,
      type: word(['Signer', 'Approver', 'SignRule', 'ApproverRule']).nullish(),
      user: participantInput.nullish(),
      signatureInitialsMode: word(INITIALS_MODES).nullish(),
      ruleName: maybeText,
      numberRequiredSignatures: whole.nullish(),
      prePositionedMarks: list(markInput).nullish(),
    }),
  ),
  signatureType: word(SIGNATURE_TYPES).nullish(),
});

const madeShape = z.strictObject({ id, embedUrl: z.url() });

const sessionShape = z
  .strictObject({
    id,
    files: z.array(z.strictObject({ id: z.string(), location: z.string() })),
    data: z.unknown().describe('The request as it was sent.'),
  })
  .meta({ id: 'MarksSession' });

export function marksSessionRoutes(sessions: MarksSessions): readonly AnyRoute[] {
  return [
    portalRoute({
      method: 'POST',
      path: '/api/marks-sessions',
      summary: 'Opens a session for marks on uploads.',
      body: sessionInput,
      responses: { 200: madeShape },
      refusals: ['UploadNotFound', 'LimitExceeded'],
      async handle({ tenant, body, given }) {
        const made = await sessions.create(tenant, body.files, given);
        return json(200, { id: made.id, embedUrl: made.embedUrl });
      },
    }),
    portalRoute({
      method: 'POST',
      path: '/api/marks-sessions/documents',
      summary: 'Opens a session for marks on what is to become documents.',
      body: createDocumentsInput,
      responses: { 200: madeShape },
      refusals: ['UploadNotFound', 'LimitExceeded'],
      async handle({ tenant, body, given }) {
        const files = body.files.map(({ id: upload, name, contentType }) => ({
          id: upload,
          name,
          contentType,
        }));
        const made = await sessions.create(tenant, files, given);
        return json(200, { id: made.id, embedUrl: made.embedUrl });
      },
    }),
    // One client's spelling is the second.
    ...['/api/marks-sessions/{id}', '/api/marks-session/{id}'].map((path) =>
      portalRoute({
        method: 'GET',
        path,
        summary: 'Gives a session to whoever has its id.',
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
