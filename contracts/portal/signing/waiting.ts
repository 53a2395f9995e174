/** Documents of all organizations that wait for one mailbox. Source: docs/decisions/0570-what-waits-for-a-mailbox.md. */
import { z } from 'zod';
import {
  entity,
  id,
  list,
  maybeFlag,
  maybeLine,
  members,
  moment,
  shown,
  textUpTo,
  time,
  uuid,
  wholeFrom,
  word,
} from '../../fields.ts';
import type { Value } from '../../operation.ts';
import { creationDate, entityName } from '../entities.ts';
import { ANA, EXAMPLE_IDS, EXAMPLE_KEY } from '../examples.ts';
import { operationsOf } from '../operation.ts';
import { LANGUAGES } from '../words.ts';

/** Documents of one page, and acts of one call. */
export const MAX_WAITING = 50;

/** Reasons why a document is opened by itself, in the order in which they are found. */
export const OPENED_ALONE = ['certificate', 'proof', 'initials', 'reading', 'fields', 'shared'] as const;
export type OpenedAlone = (typeof OPENED_ALONE)[number];

/** Time for which a session proves its mailbox, minutes. */
export const SESSION_MINUTES = 30;
const email = shown(textUpTo(254), 'Mailbox of the person.', ANA.email);
export const mailboxTicket = shown(
  textUpTo(1024),
  `Ticket of the session: it proves the mailbox for ${SESSION_MINUTES} minutes, or until \`POST /api/waiting/session/end\`.`,
  EXAMPLE_IDS.ticket,
);
export const waitingTurn = {
  documentId: uuid.describe('Document that waits.'),
  flowActionId: uuid.describe('Action that waits.'),
  userId: uuid.describe('Person of the action.'),
  documentVersion: shown(wholeFrom(1, 1e9), 'Version of the document that was listed.', 1),
  actionDate: shown(moment, '`actionDate` that was listed.', '2030-01-10T09:30:00.000Z'),
};

const waitingOperation = operationsOf({ group: 'Signing', auth: 'anonymous' });

export const sendWaitingCode = waitingOperation('POST /api/waiting/code', {
  summary: 'Sends a code to a mailbox, if documents wait for it.',
  description: `Needs no key. The answer is the same for every mailbox, whether documents wait for it or not. While a code is valid, another is sent only with \`resend\`. At most one code a minute, ten an hour and 20 a day for one mailbox, and from one client 60 calls an hour, from one network 300 (\`TooManyRequests\`).`,
  rate: 'visit',
  body: members({
    email,
    language: word(LANGUAGES).nullish().describe('Language of the mail. Null: English.'),
    resend: maybeFlag.describe('True: another code, although the last may still be valid.'),
  }).meta({ id: 'WaitingCode' }),
  examples: { request: { email: ANA.email } },
  reply: 'empty',
  refusals: ['TooManyRequests', 'TooManyWrongCodes'],
});

export const beginWaitingSession = waitingOperation('POST /api/waiting/session', {
  summary: 'Takes the code of a mailbox and begins a session.',
  description:
    'Needs no key. A code begins one session. A code is good for ten minutes and five guesses; after 50 wrong guesses a mailbox gets none for a day.',
  rate: 'visit',
  body: members({
    email,
    code: shown(textUpTo(50), 'Ten digits that were sent to the mailbox.', '4815162342'),
  }).meta({ id: 'NewWaitingSession' }),
  examples: { request: { email: ANA.email, code: '4815162342' } },
  reply: entity('WaitingSession', {
    ticket: mailboxTicket,
    endDate: time.describe('Time at which the session ends by itself.'),
  }),
  refusals: ['InvalidAuthenticationCode', 'TooManyRequests', 'TooManyWrongCodes'],
});

const waitingItem = entity('WaitingDocument', {
  documentId: id.describe('Document that waits.'),
  flowActionId: id.describe('Action that waits.'),
  userId: id.describe('Person of the action.'),
  documentVersion: shown(z.int(), 'Version of the document, for `POST /api/waiting/signatures`.', 1),
  actionDate: time.describe('Last change of what is asked, for `POST /api/waiting/signatures`.'),
  name: entityName,
  organizationName: shown(z.string(), 'Organization that sends the document.', 'Acme'),
  senderName: shown(z.string().nullable(), 'User who sends it. Null: an application.', 'Marta Reis'),
  participantName: shown(z.string().nullable(), 'Name of the person in the document.', ANA.name),
  title: shown(z.string().nullable(), 'Capacity in which the person acts.', 'Tenant'),
  asked: z.enum(['Sign', 'Approve']).describe('What is asked.'),
  creationDate,
  expirationDate: time.nullable().describe('Last moment. Null: none.'),
  alone: z
    .enum(OPENED_ALONE)
    .nullable()
    .describe(
      'What it asks beyond a signature, for which it is opened by itself: a certificate, another proof than a code by e-mail, initials, that every page is seen, fields; or the mailbox has several turns in the document. Null: it can be signed together with others.',
    ),
  url: shown(
    z.url(),
    'Address of the document, for one hour. It opens what a mailed link opens.',
    `https://sign.example.com/document/key/${EXAMPLE_KEY}/sign?ticket=0f8c1d2e`,
  ),
});
export type WaitingItem = Value<typeof waitingItem>;

export const listWaiting = waitingOperation('POST /api/waiting/documents', {
  summary: 'Lists the documents of all organizations that wait for the mailbox of a session.',
  description: `Needs no key: the ticket of the session is the credential. Oldest first, at most ${MAX_WAITING} documents of a page. A document is listed when it is the turn of a person with exactly this address and the sender has asked that person by e-mail: what an application shows to people it vouches for is not.`,
  body: members({
    ticket: mailboxTicket,
    cursor: shown(textUpTo(20).nullish(), '`nextCursor` of the page before. Null: the first page.', null),
  }).meta({ id: 'WaitingQuery' }),
  examples: { request: { ticket: EXAMPLE_IDS.ticket } },
  reply: entity('WaitingDocuments', {
    email,
    endDate: time.describe('Time at which the session ends by itself.'),
    items: z.array(waitingItem).describe('Documents, oldest first.'),
    nextCursor: shown(z.string().nullable(), 'Position of the next page. Null: this is the last one.', null),
  }),
  refusals: ['InvalidTicket'],
});

export const signWaiting = waitingOperation('POST /api/waiting/signatures', {
  summary: 'Signs or approves documents that ask no more than that, in one act.',
  description: `Needs no key: the ticket of the session is the credential, and the evidence of each signature says when its code was confirmed. Each document is signed by itself: one that is refused leaves the others. One act is of one person: a document that names another one at the same mailbox than the first is refused, and so is what has changed since it was listed. What the person has signed before counts as done; what is not reached in 30 seconds is \`ServiceBusy\`.`,
  headers: ['user-agent'],
  body: members({
    ticket: mailboxTicket,
    typedName: shown(maybeLine(200), 'Name as the person has typed it.', ANA.name),
    documents: list(members(waitingTurn), {
      least: 1,
      most: MAX_WAITING,
      refusal: { code: 'LimitExceeded', message: `At most ${MAX_WAITING} documents are signed in one act.` },
    }).describe(`Up to ${MAX_WAITING} of the listed documents.`),
  }).meta({ id: 'WaitingSignatures' }),
  examples: {
    request: {
      ticket: EXAMPLE_IDS.ticket,
      typedName: ANA.name,
      documents: [
        {
          documentId: EXAMPLE_IDS.document,
          flowActionId: EXAMPLE_IDS.flowAction,
          userId: EXAMPLE_IDS.table,
          documentVersion: 1,
          actionDate: '2030-01-10T09:30:00.000Z',
        },
      ],
    },
  },
  reply: entity('WaitingResults', {
    results: z
      .array(
        entity('WaitingResult', {
          documentId: id.describe('Document that waits.'),
          flowActionId: id.describe('Action of the request.'),
          userId: id.describe('Person of the action.'),
          isDone: z.boolean().describe('True: the person has signed or approved it.'),
          code: shown(z.string().nullable(), 'Code of the refusal. Null: it was signed.', null),
          message: shown(z.string().nullable(), 'The same in words. Null: it was signed.', null),
        }),
      )
      .describe('One for each document of the request, in its order.'),
  }),
  refusals: ['InvalidTicket', 'LimitExceeded'],
});
export type WaitingResult = Value<typeof signWaiting.reply>['results'][number];

export const leaveWaiting = waitingOperation('POST /api/waiting/session/end', {
  summary: 'Ends the session of a mailbox.',
  description: 'Needs no key. A repeated call changes nothing.',
  body: members({ ticket: mailboxTicket }).meta({ id: 'WaitingTicket' }),
  examples: { request: { ticket: EXAMPLE_IDS.ticket } },
  reply: 'empty',
  refusals: [],
});

export type WaitingCode = Value<typeof sendWaitingCode.body>;
export type WaitingSignatures = Omit<Value<typeof signWaiting.body>, 'ticket'>;
