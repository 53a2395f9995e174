/** Links of templates for anybody: each visit makes one document. Source: docs/decisions/0470-links-for-anybody.md. */

import { z } from 'zod';
import {
  end,
  entity,
  id,
  list,
  maybeFlag,
  maybeLine,
  maybePart,
  members,
  shown,
  text,
  textUpTo,
  time,
  uuid,
  wholeFrom,
  word,
} from '../../fields.ts';
import type { Value } from '../../operation.ts';
import {
  creationDate,
  creator,
  entityName,
  failureCode,
  failureMessage,
  identity,
  recordName,
} from '../entities.ts';
import { ANA, EXAMPLE_IDS, EXAMPLE_KEY, SIGNER } from '../examples.ts';
import { fieldValues, roles } from '../flow.ts';
import { idIn } from '../ids.ts';
import { cursor, pageOf } from '../lists.ts';
import { CREATION_REFUSALS } from '../new-documents.ts';
import { operationsOf } from '../operation.ts';
import { UNKNOWN_FILES } from '../refusals.ts';
import { FIELD_TYPES, LANGUAGES, MAX_REDIRECT_URL } from '../words.ts';
import { recordQuery } from './records.ts';

/** Fields that a link may ask. */
export const MAX_LINK_FIELDS = 50;
const MAX_DOCUMENTS = 100_000;
/** Documents of one person with one link. */
export const MAX_PER_PERSON = 100;
const CONTACTS = ['Email', 'Phone'] as const;
const PUBLIC_LINK_STATUSES = ['Open', 'Full', 'Expired', 'Ended'] as const;

const CONTACT =
  'What identifies a visitor, who proves it by a code: an e-mail address, or a telephone number that takes SMS. The name is asked, too.';
const LANGUAGE = 'Language of the pages and mails of the visitor. Null: that of the browser.';
const TICKET = 'Ticket in the address of the link.';
const RETURN = 'https://app.example.com/thanks';

const settings = {
  mostDocuments: shown(
    wholeFrom(1, MAX_DOCUMENTS).nullish(),
    `Documents that the link makes in all, at most ${MAX_DOCUMENTS}. Null: ${MAX_DOCUMENTS}.`,
    150,
  ),
  mostPerPerson: shown(
    wholeFrom(1, MAX_PER_PERSON).nullish(),
    `Documents of one mailbox or number, at most ${MAX_PER_PERSON}. Null: ${MAX_PER_PERSON}.`,
    1,
  ),
  endDate: end
    .nullish()
    .describe('End of the link, at most 366 days from now. Null: in 366 days. A day ends with it.'),
};

const newPublicLink = members({
  name: recordName.describe('Title that visitors read.'),
  templateId: shown(uuid, 'Template whose newest version each visit uses.', EXAMPLE_IDS.document),
  role: shown(text, 'Role of the template that the visitor takes.', SIGNER.title),
  participants: roles.describe('People for the other roles of the template.'),
  contact: word(CONTACTS).nullish().describe(`${CONTACT} Default \`Email\`.`),
  fields: shown(
    list(textUpTo(500), { most: MAX_LINK_FIELDS }).nullish(),
    'Names of fields of the template whose values the visitor gives before the document is made.',
    ['city'],
  ),
  ...settings,
  language: word(LANGUAGES).nullish().describe(LANGUAGE),
  returnUrl: shown(
    textUpTo(MAX_REDIRECT_URL).nullish(),
    'Page that opens when the visitor has signed. Its origin is one of `redirectOrigins` of the branding.',
    RETURN,
  ),
}).meta({ id: 'NewPublicLink' });

const device = {
  id: identity,
  openedBy: creator,
  creationDate,
  endDate: time.describe('End of the device.'),
};
const publicLinkDevice = entity('PublicLinkDevice', device);

const publicLink = entity('PublicLink', {
  id: identity,
  name: entityName,
  templateId: id.describe('Template of the documents.'),
  role: shown(z.string(), 'Role that the visitor takes.', SIGNER.title),
  contact: z.enum(CONTACTS).describe(CONTACT),
  fields: shown(z.array(z.string()), 'Names of the fields that the visitor fills in.', ['city']),
  mostDocuments: shown(z.int(), 'Documents that the link makes in all.', 150),
  mostPerPerson: shown(z.int(), 'Documents of one mailbox or number.', 1),
  endDate: time.describe('End of the link.'),
  language: z.enum(LANGUAGES).nullable().describe(LANGUAGE),
  returnUrl: shown(z.string().nullable(), 'Page that opens when the visitor has signed. Null: none.', RETURN),
  status: z
    .enum(PUBLIC_LINK_STATUSES)
    .describe(
      '`Open` takes visits; `Full` has made all its documents; `Expired`: its end has passed; `Ended` by a call.',
    ),
  documentCount: shown(z.int(), 'Documents that were made with the link.', 12),
  lastRefusal: maybePart('Why the last visit that gave valid data made no document. Null: there was none.', {
    code: failureCode,
    message: failureMessage,
    date: time.describe('Time of the visit.'),
  }),
  url: shown(
    z.url(),
    'Address for visitors. Anybody who has it can use the link.',
    'https://sign.example.com/link?ticket=0f8c1d2e',
  ),
  devices: z
    .array(publicLinkDevice)
    .describe('Devices at which persons sign one after the other, while they are open.'),
  creationDate,
  createdBy: creator,
});

const params = z.object({ id: idIn('Identifier, unique within the instance.') });
const operation = operationsOf({ group: 'Links for anybody' });

export const listPublicLinks = operation('GET /api/public-links', {
  summary: 'Lists links for anybody, also those that have ended.',
  description: '`q` searches in names. A link is removed two years after its creation.',
  scope: 'Read',
  query: members({
    ...recordQuery,
    templateId: shown(uuid.optional(), 'Links of this template.', EXAMPLE_IDS.document),
    cursor,
  }),
  reply: pageOf(publicLink),
});

export const createPublicLink = operation('POST /api/public-links', {
  summary: 'Creates a link of a template that anybody can use: each visit makes one document.',
  description:
    'The template makes one document; it is checked as a creation, with the same refusals. `InvalidFlowAction`: the template has no such role, or another role has no person. Documents are made with the rights of who made the link, and no more when that application or user is removed. An organization keeps at most 10,000 links (`LimitExceeded`). The same `Idempotency-Key` with the same request returns the same link.',
  scope: 'Create',
  idempotent: true,
  body: newPublicLink,
  reply: publicLink,
  examples: {
    request: { name: 'House rules', templateId: EXAMPLE_IDS.document, role: SIGNER.title, mostPerPerson: 1 },
  },
  refusals: [
    'TemplateNotFound',
    'InvalidBranding',
    'IdempotencyConflict',
    ...UNKNOWN_FILES,
    ...CREATION_REFUSALS,
  ],
});

export const getPublicLink = operation('GET /api/public-links/{id}', {
  summary: 'Returns a link for anybody with its state.',
  description: 'A link of another organization is `PublicLinkNotFound`.',
  scope: 'Read',
  params,
  reply: publicLink,
  refusals: ['PublicLinkNotFound'],
});

export const endPublicLink = operation('POST /api/public-links/{id}/end', {
  summary: 'Ends a link for anybody; documents that were made with it do not change.',
  description: 'An ended link stays ended: a repeated call changes nothing.',
  scope: 'Create',
  params,
  reply: 'empty',
  refusals: ['PublicLinkNotFound'],
});

export const openLinkDevice = operation('POST /api/public-links/{id}/devices', {
  summary:
    'Opens a device of the sender, such as a tablet at a counter, at which persons sign one after the other.',
  description:
    'For who stands beside it: no code is sent, and the evidence names the caller and says that the person signed there. The address is opened once, within ten minutes, in the browser of the device; it takes the session of the browser away. `InvalidFlowAction`: the visitor is not alone in the first step of the template, or needs a certificate. A link has at most 20 devices (`LimitExceeded`), each makes at most 120 documents an hour.',
  scope: 'Create',
  params,
  body: members({
    pin: shown(
      text,
      'Four to twelve digits that end the device there. Five wrong ones in 15 minutes are taken.',
      '2468',
    ),
    hours: shown(wholeFrom(1, 24).nullish(), 'Hours until it ends by itself. Null: 12.', 8),
  }).meta({ id: 'NewPublicLinkDevice' }),
  examples: { request: { pin: '2468' } },
  reply: entity('OpenedPublicLinkDevice', {
    ...device,
    url: shown(
      z.url(),
      'Address for the browser of the device. Whoever opens it first makes documents without codes.',
      'https://sign.example.com/here?ticket=0f8c1d2e',
    ),
  }),
  refusals: [
    'PublicLinkNotFound',
    'PublicLinkEnded',
    'PublicLinkExpired',
    'PublicLinkFull',
    'InvalidFlowAction',
    'LimitExceeded',
  ],
});

export const endLinkDevice = operation('POST /api/public-links/{id}/devices/{deviceId}/end', {
  summary: 'Ends a device, wherever it is.',
  description:
    'A repeated call changes nothing. What a person has begun to sign there is finished or canceled.',
  scope: 'Create',
  params: params.extend({
    deviceId: idIn('Id from `devices` of the link or from the creation of the device.'),
  }),
  reply: 'empty',
  refusals: ['PublicLinkNotFound'],
});

// Calls of visitors, who have the ticket alone.

const CLOSED = ['PublicLinkNotFound', 'PublicLinkEnded', 'PublicLinkExpired', 'PublicLinkFull'] as const;
const ticket = shown(textUpTo(1024), TICKET, EXAMPLE_IDS.ticket);
const visitor = {
  ticket,
  name: shown(maybeLine(200), 'Full name of the visitor.', ANA.name),
  email: shown(textUpTo(254).nullish(), 'E-mail address of the visitor, where the link asks it.', ANA.email),
  phone: shown(
    textUpTo(50).nullish(),
    'Telephone number with country code, where the link asks it.',
    '+351 912 345 678',
  ),
  language: word(LANGUAGES).nullish().describe('Language of the visitor; that of the link comes first.'),
};

const linkField = z.strictObject({
  name: entityName,
  label: shown(z.string().nullable(), 'Text beside the input. Null: the name.', 'City'),
  type: z.enum(FIELD_TYPES).describe('What the field takes.'),
  required: z.boolean().describe('Whether a value is needed.'),
  options: shown(z.array(z.string()), 'Values of a choice.', ['Lisbon', 'Porto']),
  maxLength: shown(z.int().nullable(), 'Most characters. Null: as many as the service takes.', 80),
  minimum: shown(z.number().nullable(), 'Least number. Null: any.', 1),
  maximum: shown(z.number().nullable(), 'Greatest number. Null: any.', 99),
});

const linkPage = entity('PublicLinkPage', {
  name: entityName,
  organizationName: shown(z.string(), 'Organization that sends the documents.', 'Acme'),
  contact: z.enum(CONTACTS).describe(CONTACT),
  fields: z.array(linkField).describe('Fields that the visitor fills in.'),
  language: z.enum(LANGUAGES).nullable().describe(LANGUAGE),
});

export const viewPublicLink = operation('POST /api/public-links/view', {
  summary: 'Returns what a link for anybody asks of its visitor.',
  description: 'Needs no key: the ticket is the credential. It changes nothing and counts as no visit.',
  auth: 'anonymous',
  body: members({ ticket }).meta({ id: 'PublicLinkTicket' }),
  examples: { request: { ticket: EXAMPLE_IDS.ticket } },
  reply: linkPage,
  refusals: CLOSED,
});

export const sendPublicLinkCode = operation('POST /api/public-links/code', {
  summary: 'Sends the visitor of a link a code to the given address or number.',
  description:
    'Needs no key: the ticket is the credential. While a code is valid, another is sent only with `resend`. At most one code a minute to one address and ten an hour to one mailbox from all links of an organization, of one link 120 an hour to all, a quarter of `Portal:MessageGateway:MessagesPerDay` to telephones, and from one network 60 calls of visitors an hour (`TooManyRequests`).',
  auth: 'anonymous',
  rate: 'visit',
  body: members({
    ...visitor,
    resend: maybeFlag.describe('True: another code, although the last may still be valid.'),
  }).meta({ id: 'PublicLinkCode' }),
  examples: { request: { ticket: EXAMPLE_IDS.ticket, name: ANA.name, email: ANA.email } },
  reply: 'empty',
  refusals: [...CLOSED, 'TooManyRequests', 'TooManyWrongCodes'],
});

export const visitPublicLink = operation('POST /api/public-links/documents', {
  summary: 'Makes the document of a visit and returns the address at which the visitor signs.',
  description:
    'Needs no key: the ticket is the credential. The same `visitId` gives the same document, however often it is sent. The open document of the address is returned in place of a second one. `PublicLinkPersonFull`: the mailbox has as many documents as one may have. From one network 60 calls of visitors an hour.',
  auth: 'anonymous',
  rate: 'visit',
  body: members({
    ...visitor,
    visitId: shown(
      uuid,
      'Drawn by the client for this visit. Nobody else must know it.',
      EXAMPLE_IDS.flowAction,
    ),
    code: shown(textUpTo(50).nullish(), 'Code that was sent. Only a repeated visit needs none.', '123456'),
    fieldValues,
  }).meta({ id: 'PublicLinkVisit' }),
  examples: {
    request: {
      ticket: EXAMPLE_IDS.ticket,
      visitId: EXAMPLE_IDS.flowAction,
      name: ANA.name,
      email: ANA.email,
      code: '123456',
      fieldValues: { city: 'Lisbon' },
    },
  },
  reply: entity('PublicLinkDocument', {
    documentId: id.describe('The document of the visit.'),
    url: shown(
      z.url(),
      'Page on which the visitor signs. Whoever has it acts for the visitor.',
      `https://sign.example.com/document/key/${EXAMPLE_KEY}/sign?ticket=0f8c1d2e`,
    ),
  }),
  refusals: [
    ...CLOSED,
    'PublicLinkPersonFull',
    'InvalidAuthenticationCode',
    'TooManyWrongCodes',
    'InvalidFieldValue',
    'LimitExceeded',
  ],
});

export type PublicLinkView = Value<typeof publicLink>;
export type NewPublicLink = Value<typeof newPublicLink>;
export type PublicLinkPage = Value<typeof linkPage>;
export type PublicLinkCode = Value<(typeof sendPublicLinkCode)['body']>;
export type PublicLinkVisit = Value<(typeof visitPublicLink)['body']>;
export type NewLinkDevice = Value<(typeof openLinkDevice)['body']>;
export type OpenedLinkDevice = Value<(typeof openLinkDevice)['reply']>;
export type PublicLinkContact = (typeof CONTACTS)[number];
