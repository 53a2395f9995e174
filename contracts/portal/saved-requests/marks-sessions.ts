/** Sessions of one hour in which a person places marks before documents are created. Source: docs/portal-values.md §20. */

import { z } from 'zod';
import { anyObject, entity, list, maybeUuid, members, parts, shown, withSent } from '../../fields.ts';
import { embedUrl, identity, ticketPath } from '../entities.ts';
import { ANA, CREATION, EXAMPLE_IDS, FILE, SIGNER } from '../examples.ts';
import { fileReference, flowActionMembers } from '../flow.ts';
import { marksSessionParams } from '../ids.ts';
import { creationMembers, FEW_ACTIONS, FILES, FLOW_ACTIONS, newDocuments } from '../new-documents.ts';
import { operation } from '../operation.ts';

/** Files of one session. Source: docs/portal-values.md §21. */
const MAX_MARKS_FILES = 50;

const { type, user, signatureInitialsMode, ruleName, numberRequiredSignatures, prePositionedMarks } =
  flowActionMembers;
const action = members({
  id: maybeUuid.describe('Identifier, unique within the instance.'),
  type,
  user,
  signatureInitialsMode,
  ruleName,
  numberRequiredSignatures,
  prePositionedMarks,
});

const newMarksSession = members({
  files: list(fileReference, {
    least: 1,
    most: MAX_MARKS_FILES,
    refusal: { code: 'LimitExceeded', message: 'More was sent than one call may hold.' },
  }).describe(FILES),
  isEnvelope: creationMembers.isEnvelope,
  flowActions: list(action, FEW_ACTIONS).describe(FLOW_ACTIONS),
  signatureType: creationMembers.signatureType,
}).meta({ id: 'NewMarksSession' });

const createdSession = z.strictObject({
  id: identity,
  embedUrl,
});

const marksSession = entity('MarksSession', {
  id: identity,
  files: parts('Uploads of the session, each with a path that shows it.', {
    id: shown(z.string(), 'Id of the upload.', EXAMPLE_IDS.upload),
    location: ticketPath,
  }),
  data: shown(anyObject, 'The request as it was sent.', CREATION),
});

const MARK = {
  type: 'SignatureVisualRepresentation',
  pageNumber: 1,
  topLeftX: 72,
  topLeftY: 600,
  width: 180,
  height: 60,
};

export const createMarksSession = operation('POST /api/marks-sessions', {
  group: 'Marks',
  summary: 'Creates a session in which a person places marks on uploads.',
  description:
    'For applications whose users place marks before the documents exist. `embedUrl` is a page for a frame, which posts `marksPositioned` to its parent. No document is created. The session lasts 60 minutes.',
  scope: 'Create',
  body: withSent(newMarksSession),
  largeBody: true,
  reply: createdSession,
  examples: {
    request: {
      files: [{ id: EXAMPLE_IDS.upload, name: 'contract.pdf', contentType: 'application/pdf' }],
      flowActions: [{ type: 'Signer', user: ANA }],
    },
  },
  refusals: ['UploadNotFound', 'LimitExceeded'],
});

export const createMarksSessionOfDocuments = operation('POST /api/marks-sessions/documents', {
  group: 'Marks',
  summary: 'Creates a session in which a person places marks on the files of a creation request.',
  description:
    'As `POST /api/marks-sessions`, with a whole creation request. No document is created: send the request that `marksPositioned` contains to `POST /api/documents`. The session lasts 60 minutes.',
  scope: 'Create',
  body: withSent(newDocuments),
  largeBody: true,
  reply: createdSession,
  examples: { request: { files: [FILE], flowActions: [{ ...SIGNER, prePositionedMarks: [MARK] }] } },
  refusals: ['UploadNotFound', 'LimitExceeded'],
});

export const getMarksSession = operation('GET /api/marks-sessions/{id}', {
  group: 'Marks',
  summary: 'Returns a marks session.',
  description:
    'Sent by the page of the session. Needs no key: the id is the credential. The files have paths with tickets. `MarksSessionNotFound`: the id is unknown, or the 60 minutes have passed.',
  auth: 'anonymous',
  params: marksSessionParams,
  reply: marksSession,
  refusals: ['MarksSessionNotFound'],
});

/** One client uses this spelling. */
export const getMarksSessionAgain = { ...getMarksSession, path: '/api/marks-session/{id}' };
