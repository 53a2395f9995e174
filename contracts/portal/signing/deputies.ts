/** Deputies that people name for a time. Source: docs/decisions/0580-deputies.md. */
import { z } from 'zod';
import { entity, id, members, moment, shown, textUpTo, time, uuid, word } from '../../fields.ts';
import type { Value } from '../../operation.ts';
import { reason } from '../documents.ts';
import { entityName } from '../entities.ts';
import { ANA, EXAMPLE_IDS } from '../examples.ts';
import { documentParams } from '../ids.ts';
import { FILE_HEADERS, operationsOf } from '../operation.ts';
import { LANGUAGES } from '../words.ts';
import { MAX_WAITING, mailboxTicket as ticket, waitingTurn } from './waiting.ts';

/** People who have the same deputy at a time. */
export const MAX_DEPUTYSHIPS = 100;
/** Time after its code in which a mailbox names deputies. */
export const NAMING_MINUTES = 5;
/** Participants of a document whose deputies are looked for. */
export const MAX_REPRESENTED = 100;

const operation = operationsOf({ group: 'Signing', auth: 'anonymous' });
const SESSION = 'Needs no key: the ticket of the session is the credential.';

const times = {
  startDate: time.describe('Time at which the deputy may act.'),
  endDate: time.describe('Time from which the deputy may not act any more.'),
};

const view = entity('Deputy', {
  id: id.describe('Identifier, unique within the instance.'),
  name: shown(z.string(), 'Full name of the deputy.', 'Lou Lima'),
  email: shown(z.string(), 'E-mail address of the deputy.', 'lou@example.com'),
  reason: shown(z.string(), 'Why the person has named the deputy.', 'I am on leave.'),
  ...times,
});
export type DeputyView = Value<typeof view>;

const personEmail = shown(z.string(), 'Mailbox of the person who has named the deputy.', ANA.email);
const personInput = shown(textUpTo(254), 'Mailbox of the person who has named the deputy.', ANA.email);

const deputyName = shown(z.string(), 'Name of the deputy, as the person has entered it.', 'Lou Lima');

const deputyship = entity('Deputyship', {
  id: id.describe('Identifier of the deputy.'),
  person: personEmail,
  name: deputyName,
  ...times,
});
export type DeputyshipView = Value<typeof deputyship>;

const item = entity('DeputyDocument', {
  documentId: id.describe('Identifier of the document that waits.'),
  flowActionId: id.describe('The action that waits.'),
  userId: id.describe('The person of the action.'),
  documentVersion: shown(z.int(), 'Version of the document, for an act.', 1),
  actionDate: time.describe('Last change of what is asked, for an act.'),
  name: entityName,
  organizationName: shown(z.string(), 'Organization that sends the document.', 'Acme'),
  person: personEmail,
  participantName: shown(z.string().nullable(), 'Name of the person in the document.', ANA.name),
  deputyName,
  asked: z.enum(['Sign', 'Approve']).describe('What is asked.'),
  expirationDate: time.nullable().describe('Last moment. Null: none.'),
});
export type DeputyItem = Value<typeof item>;

export const viewDeputies = operation('POST /api/waiting/deputies/view', {
  summary: 'Returns the deputies of the person of a session, and the people whose deputy the person is.',
  description: `${SESSION} At most ${MAX_DEPUTYSHIPS} people, those first whose time ends first.`,
  body: members({ ticket }).meta({ id: 'DeputiesQuery' }),
  examples: { request: { ticket: EXAMPLE_IDS.ticket } },
  reply: entity('Deputies', {
    deputies: z.array(view).describe('Deputies of the person, of now and later.'),
    people: z.array(deputyship).describe('People who have named the person as deputy, for now or later.'),
  }),
  refusals: ['InvalidTicket'],
});

export const nameDeputy = operation('POST /api/waiting/deputies', {
  summary: 'Names a deputy with a start and an end.',
  description: `${SESSION} Within ${NAMING_MINUTES} minutes of its code (\`InvalidAuthenticationCode\`), and by a mailbox that something waited for (\`Forbidden\`). Deputy and person are told by mail. A deputy of the same mailbox is replaced; sent twice, it is named once. At most five deputies that are not over, and ${MAX_DEPUTYSHIPS} people of one deputy (\`LimitExceeded\`). A day: ten of one mailbox, ten that name one, 100 of one network, 200 of one domain (\`TooManyRequests\`). \`InvalidFlowAction\`: not this person.`,
  body: members({
    ticket,
    name: shown(textUpTo(200), 'Full name of the deputy.', 'Lou Lima'),
    email: shown(textUpTo(254), 'E-mail address of the deputy.', 'lou@example.com'),
    reason: shown(
      reason,
      'Reason, which senders and the evidence get when the deputy acts.',
      'I am on leave.',
    ),
    startDate: shown(moment.nullish(), 'Null: now.', null),
    endDate: shown(moment, 'At most 400 days from now.', '2030-01-10T00:00:00Z'),
    language: word(LANGUAGES).nullish().describe('Language of the mails. Null: English.'),
  }).meta({ id: 'NewDeputy' }),
  examples: {
    request: {
      ticket: EXAMPLE_IDS.ticket,
      name: 'Lou Lima',
      email: 'lou@example.com',
      reason: 'I am on leave.',
      endDate: '2030-01-10T00:00:00Z',
    },
  },
  reply: view,
  refusals: [
    'InvalidTicket',
    'InvalidAuthenticationCode',
    'Forbidden',
    'InvalidFlowAction',
    'LimitExceeded',
    'TooManyRequests',
  ],
});
export type NewDeputy = Omit<Value<typeof nameDeputy.body>, 'ticket'>;

export const endDeputy = operation('POST /api/waiting/deputies/end', {
  summary: 'Ends a deputy now, by the person or by the deputy.',
  description: `${SESSION} An act that begins later is refused. A repeated call changes nothing.`,
  body: members({
    ticket,
    id: uuid.describe('The deputy.'),
    person: shown(
      textUpTo(254).nullish(),
      'Mailbox of the person whose deputy gives it up. Null: a deputy of the person of the session.',
      null,
    ),
  }).meta({ id: 'DeputyToEnd' }),
  examples: { request: { ticket: EXAMPLE_IDS.ticket, id: EXAMPLE_IDS.flowAction } },
  reply: 'empty',
  refusals: ['InvalidTicket'],
});

export const listForDeputy = operation('POST /api/waiting/deputies/documents', {
  summary: 'Lists what waits for a person and may be done by a deputy.',
  description: `${SESSION} Oldest first, of at most ${MAX_WAITING} documents that wait: those whose sender allows that the action is handed on, of organizations that take deputies, and that ask for a signature or an approval alone. Empty outside of the time of the deputy.`,
  body: members({
    ticket,
    person: personInput,
    cursor: shown(textUpTo(20).nullish(), '`nextCursor` of the page before. Null: the first page.', null),
  }).meta({ id: 'DeputyQuery' }),
  examples: { request: { ticket: EXAMPLE_IDS.ticket, person: ANA.email } },
  reply: entity('DeputyDocuments', {
    items: z.array(item).describe('Documents, oldest first.'),
    nextCursor: shown(z.string().nullable(), 'Position of the next page. Null: this is the last one.', null),
  }),
  refusals: ['InvalidTicket'],
});

const { documentVersion, actionDate, ...turn } = waitingTurn;
const turnExample = {
  ticket: EXAMPLE_IDS.ticket,
  documentId: EXAMPLE_IDS.document,
  flowActionId: EXAMPLE_IDS.flowAction,
  userId: EXAMPLE_IDS.table,
};
const REFUSALS = ['InvalidTicket', 'DocumentNotFound', 'InvalidFlowAction', 'InvalidDocumentStatus'] as const;
const NOT_NOW =
  '`DocumentNotFound`: the caller is no deputy of its person now. `InvalidFlowAction`: it needs the person itself, its sender or organization does not allow it, or not this deputy, or not under this name.';

export const readAsDeputy = operation('POST /api/waiting/deputies/content', {
  summary: 'Sends the file of a document to the deputy of its person.',
  description: `${SESSION} The history records it. ${NOT_NOW}`,
  headers: [...FILE_HEADERS, 'user-agent'],
  body: members({ ticket, ...turn }).meta({ id: 'DeputyReading' }),
  examples: { request: turnExample },
  reply: 'file',
  refusals: REFUSALS,
});
export type DeputyTurn = Omit<Value<typeof readAsDeputy.body>, 'ticket'>;

export const actAsDeputy = operation('POST /api/waiting/deputies/act', {
  summary: 'Signs or approves in place of the person whose deputy the person of a session is.',
  description: `${SESSION} The deputy signs under the name that the person has entered and the list has shown. Evidence, manifest and history say for whom and why; sender and person are told by mail. Sent twice, it signs once. ${NOT_NOW}`,
  headers: ['user-agent'],
  body: members({
    ticket,
    ...turn,
    documentVersion,
    actionDate,
    deputyName: shown(textUpTo(200), 'Name of the deputy, as the list has shown it.', 'Lou Lima'),
  }).meta({ id: 'DeputyAct' }),
  examples: {
    request: {
      ...turnExample,
      documentVersion: 1,
      actionDate: '2030-01-10T09:30:00.000Z',
      deputyName: 'Lou Lima',
    },
  },
  reply: 'empty',
  refusals: REFUSALS,
});
export type DeputyAct = Omit<Value<typeof actAsDeputy.body>, 'ticket'>;

export const documentDeputies = operationsOf({ group: 'Documents' })('GET /api/documents/{id}/deputies', {
  summary: 'Returns the deputies who may act on a document now.',
  description: `Of the first ${MAX_REPRESENTED} people whose turn it is. A document of another organization is \`DocumentNotFound\`.`,
  scope: 'Read',
  folderKeys: true,
  params: documentParams,
  reply: z.array(
    entity('DocumentDeputy', {
      flowActionId: id.describe('The action that waits.'),
      userId: id.describe('The person of the action.'),
      name: shown(z.string(), 'Full name of the deputy.', 'Lou Lima'),
      email: shown(z.string(), 'E-mail address of the deputy.', 'lou@example.com'),
      ...times,
    }),
  ),
  refusals: ['DocumentNotFound', 'DocumentIsDeleted'],
});
export type DocumentDeputy = Value<typeof documentDeputies.reply>[number];
