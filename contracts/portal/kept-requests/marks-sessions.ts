/** Sessions of one hour in which a person places marks before documents are created. Source: docs/portal-values.md §20. */
import { z } from 'zod';
import { id, list, maybeFlag, maybeText, maybeUuid, members, whole, withSent, word } from '../../fields.ts';
import { ANA, CREATION, EXAMPLE_IDS, FILE, SIGNER } from '../examples.ts';
import { fileReference, newMark, newParticipant } from '../flow.ts';
import { marksSessionParams } from '../ids.ts';
import { newDocuments } from '../new-documents.ts';
import { operation } from '../operation.ts';
import { ACTION_TYPES, INITIALS_MODES, SIGNATURE_TYPES } from '../words.ts';

/** Files of one session. Source: docs/portal-values.md §21. */
export const MAX_MARKS_FILES = 50;

const newMarksSession = members({
  files: list(fileReference, {
    least: 1,
    most: MAX_MARKS_FILES,
    refusal: { code: 'LimitExceeded', message: 'More was sent than one call may hold.' },
  }).meta({
    description:
      'Uploads. Each becomes a document, at most 50; with `isEnvelope` they become one, at most 20 files, all PDF.',
  }),
  isEnvelope: maybeFlag.meta({
    description: 'Whether all files become one document. All must be PDF. Default false.',
  }),
  flowActions: list(
    members({
      id: maybeUuid.meta({ description: 'Identifier, unique within the instance.' }),
      type: word(ACTION_TYPES)
        .nullish()
        .meta({ description: 'Kind of action: of one person, or of several by a rule. Default `Signer`.' }),
      user: newParticipant.nullish().meta({
        description:
          'The person. Name and e-mail address are required, an identifier where certificates are used.',
      }),
      signatureInitialsMode: word(INITIALS_MODES).nullish().meta({
        description:
          'Whether the participant puts initials on each page, of which a document then has at most 999. Null: `None`.',
      }),
      ruleName: maybeText.meta({
        description: 'Name of the rule, such as of a board. Required for `SignRule` and `ApproverRule`.',
        exampleValue: 'Board of directors',
      }),
      numberRequiredSignatures: whole.nullish().meta({
        description:
          'How many people of a rule must act. Required for `SignRule`; for `ApproverRule` the default is 1. Ignored for others.',
        exampleValue: 2,
      }),
      prePositionedMarks: list(newMark).nullish().meta({
        description:
          'Places of signature and initials, at most 1,000. Absent: the participant chooses, or the end of the document.',
      }),
    }),
  ).meta({ description: 'Who signs and approves, in which order. At least one, at most 100.' }),
  signatureType: word(SIGNATURE_TYPES).nullish().meta({
    description: 'Lowest level that signatures must have. `Qualified` refuses electronic ones. Null: `None`.',
  }),
}).meta({ id: 'NewMarksSession' });

const createdSession = z.strictObject({
  id: id.meta({ description: 'Identifier, unique within the instance.' }),
  embedUrl: z.url().meta({
    description:
      'Address for the widget in the page of the client. Anybody with it can act for one participant.',
    exampleValue: 'https://sign.example.com/document/key/K3M9Q7W2E5R8T1Y4U6I0/sign-embedded?ticket=0f8c1d2e',
  }),
});

const marksSession = z
  .strictObject({
    id: id.meta({ description: 'Identifier, unique within the instance.' }),
    files: z
      .array(
        z.strictObject({
          id: z.string().meta({ description: 'Id of the upload.', exampleValue: EXAMPLE_IDS.upload }),
          location: z.string().meta({
            description: 'Path with a ticket, relative to the service. It needs no key.',
            exampleValue: `/api/documents/${EXAMPLE_IDS.document}/download?ticket=0f8c1d2e`,
          }),
        }),
      )
      .meta({ description: 'Uploads of the session, each with a path that shows it.' }),
    data: z.unknown().meta({ description: 'The request as it was sent.', exampleValue: CREATION }),
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

export const createMarksSession = operation({
  method: 'POST',
  path: '/api/marks-sessions',
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

export const createMarksSessionOfDocuments = operation({
  method: 'POST',
  path: '/api/marks-sessions/documents',
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

export const getMarksSession = operation({
  method: 'GET',
  path: '/api/marks-sessions/{id}',
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
export const getMarksSessionAgain = operation({ ...getMarksSession, path: '/api/marks-session/{id}' });
